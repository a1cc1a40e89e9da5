package ledger_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"rdmaprobe/probe/ledger"
)

// A run announces what it is about to try, tries it, and says what came of it.
func Example() {
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	store, err := ledger.Open(filepath.Join(dir, "evidence.jsonl"), "native")
	if err != nil {
		log.Fatal(err)
	}
	run, err := store.Begin(map[string]string{"boot_id": "b1"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := run.Intent(map[string]string{"id": "qp.uc.create"}); err != nil {
		log.Fatal(err) // and try nothing: nobody would ever know
	}
	if _, err := run.Append(ledger.KindObservation, map[string]string{"id": "qp.uc.create", "level": "confirmed"}); err != nil {
		log.Fatal(err)
	}
	fmt.Println("live:", ledger.RunLive(store.Path(), run.ID))
	if err := run.End(map[string]int{"exit": 0}); err != nil {
		log.Fatal(err)
	}

	_, err = ledger.Scan(store.Path(), func(r *ledger.Record) error {
		fmt.Println(r.N, r.Seq, r.Kind, string(r.Body))
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("live:", ledger.RunLive(store.Path(), run.ID))
	// Output:
	// live: true
	// 1 1 run {"boot_id":"b1"}
	// 1 2 intent {"id":"qp.uc.create"}
	// 1 3 observation {"id":"qp.uc.create","level":"confirmed"}
	// 1 4 end {"exit":0}
	// live: false
}
