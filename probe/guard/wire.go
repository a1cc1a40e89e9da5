package guard

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"rdmaprobe/probe/jsonlimit"
)

// wireVersion changes when a child of another build could not understand its
// parent. The executable may be replaced while a run is going on.
const wireVersion = 4

// MaxMessage is the longest line of a message, in bytes.
const MaxMessage = 1 << 20

// ErrTooLong is the error of a message that is longer.
var ErrTooLong = errors.New("the message is too long")

// readSize is how much is read of a child's channels at once. Most children send
// little: a larger buffer would only be memory to clear.
const readSize = 4 << 10

// maxHeader is the longest header line, in bytes.
const maxHeader = 4 << 10

// header is the first line on a child's stdin; Size bytes of request follow.
type header struct {
	Guard int           `json:"guard"`
	Nonce string        `json:"nonce"`
	Soft  time.Duration `json:"soft_ns"`
	Began time.Duration `json:"began_ns"` // uptime at the start of the child
	Kill  time.Duration `json:"kill_ns"`  // what the parent's ladder adds to Soft; 0: it never kills inside a call
	Lock  bool          `json:"lock"`
	Conn  bool          `json:"conn"`
	Size  int           `json:"size"`
}

// newNonce makes the word that every message of one run carries. The library
// shares the message channel and cannot guess it.
func newNonce() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// encodeRequest is what goes to the child's stdin.
func encodeRequest(h header, request []byte) ([]byte, error) {
	h.Guard, h.Size = wireVersion, len(request)
	if h.Size > MaxRequest {
		return nil, fmt.Errorf("request of %d bytes exceeds %d", h.Size, MaxRequest)
	}
	line, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode request header: %w", err)
	}
	return append(append(line, '\n'), request...), nil
}

// decodeRequest reads what encodeRequest made.
func decodeRequest(r io.Reader) (header, []byte, error) {
	var h header
	br := bufio.NewReaderSize(r, maxHeader)
	line, err := br.ReadSlice('\n')
	if err != nil {
		return h, nil, fmt.Errorf("read request header: %w", noEOF(err))
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return h, nil, fmt.Errorf("decode request header: %w", err)
	}
	switch {
	case h.Guard != wireVersion:
		return h, nil, fmt.Errorf("request has version %d, not %d: parent and child are different builds", h.Guard, wireVersion)
	case h.Nonce == "" || h.Soft <= 0 || h.Size < 0 || h.Size > MaxRequest:
		return h, nil, errors.New("request header is incomplete")
	}
	request := make([]byte, h.Size)
	if _, err := io.ReadFull(br, request); err != nil {
		return h, nil, fmt.Errorf("read request: %w", noEOF(err))
	}
	return h, request, nil
}

// noEOF turns an early end into an error that does not look like a regular one.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// prefix begins every message line; what follows is the rest of a JSON object.
func prefix(nonce string) string { return `{"nonce":"` + nonce + `",` }

// wireMessage is a message as it stands after the prefix.
type wireMessage struct {
	Type string          `json:"type"`
	Body json.RawMessage `json:"body"`
}

// encodeMessage makes one message. It begins with a newline, so that text which
// the library wrote without one before it does not spoil it.
func encodeMessage(nonce, typ string, body any) ([]byte, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode %s message: %w", typ, err)
	}
	line := "\n" + prefix(nonce) + `"type":` + strconv.Quote(typ) + `,"body":` + string(raw) + "}\n"
	if len(line) > MaxMessage {
		return nil, fmt.Errorf("%w: %s of %d bytes exceeds %d", ErrTooLong, typ, len(line), MaxMessage)
	}
	return []byte(line), nil
}

// readMessages passes every message in r to on, until r ends or on returns
// false. Everything else on the channel is skipped; its size is returned.
func readMessages(r io.Reader, nonce string, on func(Message) bool) (foreign int64) {
	br := bufio.NewReaderSize(r, readSize)
	want := []byte(prefix(nonce))
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		if keep := min(len(part), MaxMessage-len(line)); keep < len(part) {
			foreign += int64(len(part) - keep)
			part = part[:keep]
		}
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		m, ours := decodeMessage(line, want)
		switch {
		case ours && !on(m):
			return foreign
		case !ours && string(line) != "\n":
			foreign += int64(len(line))
		}
		line = line[:0]
		if err != nil {
			return foreign
		}
	}
}

// decodeMessage reads one line. ours is false for anything that is not a whole
// message of this run.
func decodeMessage(line, want []byte) (m Message, ours bool) {
	if !bytes.HasPrefix(line, want) {
		return m, false
	}
	var w wireMessage
	if jsonlimit.Check(line) != nil || json.Unmarshal(line, &w) != nil || w.Type == "" {
		return m, false
	}
	return Message(w), true
}
