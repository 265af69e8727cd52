package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	crossgate "crossgate/clients/go"
)

// exportKey is the environment variable with the client's key.
const exportKey = "CROSSGATE_KEY"

// exportColumns are the paths of the members that CSV contains. A column's name is its path without stringValue and
// OfferWithMetadata.
var exportColumns = map[string][]string{
	"events": {
		"id", "status", "isFinal", "event", "orderId", "stateBefore", "state", "give.chainId", "give.tokenAddress", "give.amount",
		"take.chainId", "take.tokenAddress", "take.amount", "maker", "receiver", "taker", "unlockAuthority", "referralCode",
		"basis.chainId", "basis.blockNumber", "basis.blockTimestamp", "basis.transactionHash", "basis.logIndex",
	},
	"orders": {
		"orderId.stringValue", "creationTimestamp", "state", "giveOfferWithMetadata.chainId.stringValue",
		"giveOfferWithMetadata.tokenAddress.stringValue", "giveOfferWithMetadata.finalAmount.stringValue",
		"takeOfferWithMetadata.chainId.stringValue", "takeOfferWithMetadata.tokenAddress.stringValue",
		"takeOfferWithMetadata.finalAmount.stringValue", "unlockAuthorityDst.stringValue", "createEventTransactionHash.stringValue",
	},
}

// exportCursors are the forms of cursors: of events the newest one's id, of orders its creation time and id.
var exportCursors = map[string]*regexp.Regexp{
	"events": regexp.MustCompile(`^[0-9]{1,19}$`),
	"orders": regexp.MustCompile(`^[0-9]{1,19}-0x[0-9a-f]{64}$`),
}

type export struct {
	columns []string // of CSV; nil: JSON lines
	since   uint64   // UNIX seconds
	cursor  string   // of the last row written
	client  *crossgate.Client

	out      *bufio.Writer
	progress io.Writer // nil: hidden
	shown    time.Time
}

// exportRows writes the orders or events of a running gateway, starting at a cursor.
func exportRows(flags *pflag.FlagSet) action {
	var e export
	file := configFlag(flags)
	at := flags.String("url", "", "base `URL` of the gateway; default: the one on this machine")
	of := flags.String("of", "events", "`WHAT`: events or orders")
	format := flags.String("format", "jsonl", "`FORM`: csv or jsonl")
	flags.Func("since", "`TIME`, as 2026-01-31 or 2026-01-31T12:00:00Z: rows from then on; default: all that are kept", unixTime(&e.since))
	flags.StringVar(&e.cursor, "cursor", "", "`CURSOR` at which an earlier export ended")
	return func(ctx context.Context, out, errOut io.Writer) error {
		switch {
		case exportColumns[*of] == nil:
			return wrongUsage("--of %s: want events or orders", *of)
		case *format == "csv":
			e.columns = exportColumns[*of]
		case *format != "jsonl":
			return wrongUsage("--format %s: want csv or jsonl", *format)
		case *at != "" && !strings.HasPrefix(*at, "http://") && !strings.HasPrefix(*at, "https://"):
			return wrongUsage("--url %s: want http:// or https:// in front", *at)
		case e.cursor != "" && !exportCursors[*of].MatchString(e.cursor):
			return wrongUsage("--cursor %s: want the one that an export --of %s ended with", e.cursor, *of)
		}
		c, err := load(*file)
		if err != nil {
			return err
		}
		e.client = &crossgate.Client{
			URL: strings.TrimSuffix(*at, "/"), Key: os.Getenv(exportKey), HTTP: &http.Client{Timeout: time.Minute}, MaxRetryAfter: time.Hour,
		}
		if *at == "" {
			e.client.URL, e.client.HTTP.Transport = strings.TrimSuffix(healthURL(c.TLS, c.Listen), "/healthz"), onThisMachine()
		}
		e.out = bufio.NewWriter(out)
		if terminal, is := errOut.(*os.File); is {
			if about, err := terminal.Stat(); err == nil && about.Mode()&os.ModeCharDevice != 0 {
				e.progress = errOut
			}
		}
		if e.columns != nil && e.cursor == "" {
			fmt.Fprintln(e.out, strings.NewReplacer(".stringValue", "", "OfferWithMetadata", "").Replace(strings.Join(e.columns, ",")))
		}
		write := e.events
		if *of == "orders" {
			write = e.orders
		}
		err = errors.Join(write(ctx), e.out.Flush())
		if e.progress != nil {
			fmt.Fprintln(errOut)
		}
		refused, is := errors.AsType[*crossgate.Error](err)
		if e.cursor != "" && !(is && strings.HasPrefix(refused.ID, "CURSOR_")) {
			fmt.Fprintf(errOut, "go on with --cursor %s\n", e.cursor)
		}
		return err
	}
}

// events writes the events up to the one that is newest when it begins.
func (e *export) events(ctx context.Context) error {
	var part struct {
		Events []json.RawMessage
		Next   uint64 `json:",string"`
	}
	if _, err := e.client.Ask(ctx, http.MethodGet, "/v1.0/events", nil, &part); err != nil {
		return err
	}
	newest, isGiven := part.Next, e.cursor != "" // the gateway has to know it, even if no events follow
	e.cursor = cmp.Or(e.cursor, strconv.FormatUint(min(e.since*1_000_000, newest), 10))
	first, _ := strconv.ParseUint(e.cursor, 10, 64) // the flag was checked
	for after := first; after < newest || isGiven; isGiven = false {
		if _, err := e.client.Ask(ctx, http.MethodGet, "/v1.0/events?limit=1000&cursor="+e.cursor, nil, &part); err != nil {
			return err
		}
		if err := e.write(part.Events); err != nil {
			return err
		}
		if after = part.Next; first == 0 {
			first = after
		}
		e.cursor = strconv.FormatUint(after, 10)
		e.show(float64(after-first) / float64(max(newest-first, 1)))
	}
	return nil
}

// orders writes the listed orders, oldest first.
func (e *export) orders(ctx context.Context) error {
	const atOnce = 100
	from, last := e.since, ""
	if seconds, order, isGiven := strings.Cut(e.cursor, "-"); isGiven {
		from, _ = strconv.ParseUint(seconds, 10, 64) // the flag was checked
		last = order
	}
	total := 0
	for skip, done := 0, 0; ; {
		var part struct {
			Orders     []json.RawMessage
			TotalCount int
		}
		filter := map[string]any{"sort": "Oldest", "blockTimestampFrom": from, "skip": skip, "take": atOnce}
		if _, err := e.client.Ask(ctx, http.MethodPost, "/api/Orders/filteredList", filter, &part); err != nil {
			return err
		}
		total = max(total, part.TotalCount)
		fresh := part.Orders[:0:0]
		begun, known := from, last
		for _, raw := range part.Orders {
			var row struct {
				OrderID           struct{ StringValue string }
				CreationTimestamp uint64
			}
			if err := json.Unmarshal(raw, &row); err != nil {
				return err
			}
			if row.CreationTimestamp == begun && known != "" && row.OrderID.StringValue >= known {
				continue // already written: orders of one second are listed by descending id
			}
			fresh = append(fresh, raw)
			from, last = row.CreationTimestamp, row.OrderID.StringValue
		}
		if err := e.write(fresh); err != nil {
			return err
		}
		if last != "" {
			e.cursor = fmt.Sprint(from, "-", last)
		}
		done += len(fresh)
		e.show(float64(done) / float64(max(total, 1)))
		if skip += atOnce; skip >= part.TotalCount { // a part may lack orders that a reorg dropped meanwhile
			return nil
		}
		if from > begun {
			skip = 0 // continue from the last order's time, so that new orders shift nothing
		}
	}
}

func (e *export) write(rows []json.RawMessage) error {
	to := csv.NewWriter(e.out)
	for _, raw := range rows {
		if e.columns == nil {
			if _, err := e.out.Write(append(raw, '\n')); err != nil {
				return err
			}
			continue
		}
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		var row any
		if err := decoder.Decode(&row); err != nil {
			return err
		}
		cells := make([]string, len(e.columns))
		for i, path := range e.columns {
			cells[i] = cellOf(row, path)
		}
		if err := to.Write(cells); err != nil {
			return err
		}
	}
	if to.Flush(); to.Error() != nil {
		return to.Error()
	}
	return e.out.Flush() // before the cursor moves past these rows
}

// cellOf returns the member of a row at a path, or an empty text.
func cellOf(row any, path string) string {
	for name := range strings.SplitSeq(path, ".") {
		object, _ := row.(map[string]any)
		row = object[name]
	}
	if row == nil {
		return ""
	}
	return fmt.Sprint(row)
}

// show displays the share done, a few times a second at most.
func (e *export) show(share float64) {
	const cells, interval = 40, 200 * time.Millisecond
	if e.progress == nil || share < 1 && time.Since(e.shown) < interval {
		return
	}
	e.shown = time.Now()
	filled := int(min(share, 1) * cells)
	fmt.Fprintf(e.progress, "\r[%s%s] %5.1f%%", strings.Repeat("=", filled), strings.Repeat(" ", cells-filled), 100*min(share, 1))
}
