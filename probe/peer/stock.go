package peer

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// The exchange of rdma-core's ibv_rc_pingpong and ibv_uc_pingpong
// (libibverbs/examples): each end sends one text LID:QPN:PSN:GID in hexadecimal,
// with its closing NUL, the client first; the server connects its queue pair
// before it answers; the client then says done.

// stockLine is the length of an address, with its NUL.
const stockLine = len("0000:000000:000000:00000000000000000000000000000000") + 1

// stockDone is what the client says last.
const stockDone = "done\x00"

// Facts of the stock tools that both ends must share and the exchange does not
// carry: their defaults.
const (
	StockMTU   = 1024 // bytes
	StockSize  = 4096 // bytes
	StockIters = 1000
)

// AppendStock is an endpoint in the stock tools' form. Its GID is all zero where
// it has none.
func AppendStock(b []byte, e Endpoint) ([]byte, error) {
	var gid [16]byte
	if e.GID != "" {
		a, err := netip.ParseAddr(e.GID)
		if err != nil {
			return nil, fmt.Errorf("encode GID: %w", err)
		}
		gid = a.As16()
	}
	b = fmt.Appendf(b, "%04x:%06x:%06x:%s", e.LID, e.QPN, e.PSN, hex.EncodeToString(gid[:]))
	return append(b, 0), nil
}

// ParseStock reads an endpoint in the stock tools' form.
func ParseStock(b []byte) (Endpoint, error) {
	text, ok := strings.CutSuffix(string(b), "\x00")
	if !ok || len(b) != stockLine {
		return Endpoint{}, invalid("an address that is not of ibv_rc_pingpong's form: %.60q", b)
	}
	parts := strings.Split(text, ":")
	if len(parts) != 4 || len(parts[0]) != 4 || len(parts[1]) != 6 || len(parts[2]) != 6 || len(parts[3]) != 32 {
		return Endpoint{}, invalid("an address that is not of ibv_rc_pingpong's form: %.60q", b)
	}
	var n [3]uint64
	for i := range n {
		v, err := strconv.ParseUint(parts[i], 16, 32)
		if err != nil {
			return Endpoint{}, invalid("a number that is not hexadecimal: %.10q", parts[i])
		}
		n[i] = v
	}
	raw, err := hex.DecodeString(parts[3])
	if err != nil {
		return Endpoint{}, invalid("a GID that is not hexadecimal: %.40q", parts[3])
	}
	e := Endpoint{LID: int(n[0]), QPN: uint32(n[1]), PSN: uint32(n[2]), MTU: StockMTU}
	if gid := netip.AddrFrom16([16]byte(raw)); gid != netip.IPv6Unspecified() {
		e.GID = gid.String()
	}
	return e, e.Check()
}

// SendStock writes this end's address.
func SendStock(c net.Conn, e Endpoint, limit time.Duration) error {
	b, err := AppendStock(nil, e)
	if err != nil {
		return err
	}
	return writeWithin(c, b, limit)
}

func writeWithin(c net.Conn, b []byte, limit time.Duration) error {
	if err := c.SetWriteDeadline(time.Now().Add(limit)); err != nil {
		return fmt.Errorf("send the address: %w", err)
	}
	// One write: the stock tools read once and expect all of it.
	if _, err := c.Write(b); err != nil {
		return fmt.Errorf("send the address: %w", err)
	}
	return nil
}

// ReadStock reads the other end's address.
func ReadStock(c net.Conn, limit time.Duration) (Endpoint, error) {
	if err := c.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return Endpoint{}, fmt.Errorf("read the other end's address: %w", err)
	}
	b := make([]byte, stockLine)
	if _, err := io.ReadFull(c, b); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return Endpoint{}, fmt.Errorf("read the other end's address: %w", err)
	}
	return ParseStock(b)
}

// SendDone ends a client's part.
func SendDone(c net.Conn, limit time.Duration) error { return writeWithin(c, []byte(stockDone), limit) }

// AwaitDone waits for the end of a client's part. Older tools close without a
// word, which means the same.
func AwaitDone(c net.Conn, limit time.Duration) error {
	if err := c.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return fmt.Errorf("await the end of the exchange: %w", err)
	}
	b := make([]byte, len(stockDone))
	n, err := io.ReadFull(c, b)
	switch {
	case err == nil && string(b) == stockDone, errors.Is(err, io.EOF):
		return nil
	case err == nil || errors.Is(err, io.ErrUnexpectedEOF):
		return invalid("%.20q where done was expected", b[:n])
	}
	return fmt.Errorf("await the end of the exchange: %w", err)
}
