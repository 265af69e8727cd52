package pages

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy"
	"crossgate/proxy/wire"
	"crossgate/token"
)

// Limits of an export: rows in total, rows read at a time, and the time that a client has to receive these.
const (
	mostExported   = 10_000
	exportedAtOnce = 500
	exportWrite    = 30 * time.Second
)

// exportColumns are the columns of an export. Amounts are in whole tokens, empty if decimals are unknown, and units in
// smallest units.
var exportColumns = []string{
	"id", "type", "state", "created", "giveChainId", "giveToken", "giveSymbol", "giveAmount", "giveUnits",
	"takeChainId", "takeToken", "takeSymbol", "takeAmount", "takeUnits", "maker", "receiver", "taker", "transaction", "fulfilment",
}

func (s *Pages) exportCSV(c *gin.Context) {
	to := csv.NewWriter(c.Writer)
	s.export(c, "text/csv; charset=utf-8", "orders.csv", func(rows [][]string, isFirst, _ bool) error {
		if isFirst {
			rows = append([][]string{exportColumns}, rows...)
		}
		for i := range rows {
			rows[i] = inert(rows[i])
		}
		return to.WriteAll(rows)
	})
}

// inTwo is for spreadsheets of countries where a semicolon ends a cell.
var inTwo = strings.NewReplacer(";=", ";'=", ";+", ";'+", ";-", ";'-", ";@", ";'@", ";\t", ";'\t", ";\r", ";'\r")

// inert returns a row whose cells spreadsheets will not run as formulas.
func inert(row []string) []string {
	row = slices.Clone(row)
	for i, cell := range row {
		cell = inTwo.Replace(cell)
		if row[i] = cell; cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
			row[i] = "'" + cell
		}
	}
	return row
}

func (s *Pages) exportJSON(c *gin.Context) {
	s.export(c, "application/json", "orders.json", func(rows [][]string, isFirst, isLast bool) error {
		var text []byte
		if isFirst {
			text = append(text, '[')
		}
		for i, row := range rows {
			object := make(map[string]string, len(row))
			for at, value := range row {
				object[exportColumns[at]] = value
			}
			encoded, err := json.Marshal(object)
			if err != nil {
				return err
			}
			if !isFirst || i > 0 {
				text = append(text, ',')
			}
			text = append(append(text, '\n'), encoded...)
		}
		if isLast {
			text = append(text, "\n]\n"...)
		}
		_, err := c.Writer.Write(text)
		return err
	})
}

// export streams the rows of a list's form part by part. If the list cannot be read to its end, it aborts the
// connection, so that a partial list is not taken for the whole.
func (s *Pages) export(c *gin.Context, kind, name string, write func(rows [][]string, isFirst, isLast bool) error) {
	part, _, wrong := s.partOf(c.Request.Context(), formOf(c))
	if len(wrong) > 0 {
		s.server.FailPage(c, proxy.InvalidParameters.Because(strings.Join(wrong, "; ")))
		return
	}
	header := c.Writer.Header()
	begin := func() {
		header.Set("Content-Type", kind)
		header.Set("Content-Disposition", `attachment; filename="`+name+`"`)
		header.Set("Cache-Control", "no-store")
	}
	if c.Request.Method == http.MethodHead { // no need to read rows
		begin()
		c.Status(http.StatusOK)
		return
	}
	s.server.ServeStream(c, proxy.Tracking, func(ctx context.Context, c *gin.Context) {
		seen, total := make(map[string]bool), uint64(0)
		for part.Skip, part.Take = 0, exportedAtOnce; ; part.Skip += exportedAtOnce {
			l, _, _, err := s.orders.List(ctx, part)
			if part.Skip > 0 {
				err = errors.Join(err, proxy.ChargeSearch(ctx))
			}
			if err != nil && part.Skip == 0 {
				s.server.FailPage(c, err)
				return
			}
			if err != nil || l.Total < total { // removed rows shift others into parts already read
				panic(http.ErrAbortHandler)
			}
			total = l.Total
			var rows [][]string
			for _, each := range l.Records {
				if row := s.pages.exported(each); !seen[row[0]] { // new rows shift others into the next part
					seen[row[0]], rows = true, append(rows, row)
				}
			}
			if part.Skip == 0 {
				begin()
			}
			_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Now().Add(exportWrite))
			isLast := part.Skip+exportedAtOnce >= min(total, mostExported)
			if err := write(rows, part.Skip == 0, isLast); err != nil || isLast {
				return
			}
			c.Writer.Flush()
		}
	})
}

func (p *Views) exported(r wire.Listed) []string {
	if r.Swap != nil {
		made := r.Swap.Swap
		on, fact := made.At.Chain, made.Fact
		row := []string{made.ID.String(), "swap", order.StateFulfilled.String(), timeOf(made.At.Time).UTC().Format(time.RFC3339)}
		row = append(row, p.exportedSide(on, fact.TokenIn, fact.AmountIn, r.Swap.In)...)
		row = append(row, p.exportedSide(on, fact.TokenOut, fact.Received(), r.Swap.Out)...)
		return append(row, p.text(on, fact.Sender), p.text(on, fact.Recipient), "", made.At.Tx.String(), "")
	}
	o := r.Order.Order
	give, take := o.Terms.Give, o.Terms.Take
	row := []string{o.ID.String(), "order", o.State.String(), timeOf(o.Created.At.Time).UTC().Format(time.RFC3339)}
	row = append(row, p.exportedSide(give.Chain, give.Token, o.GiveFinal, r.Order.Give)...)
	row = append(row, p.exportedSide(take.Chain, take.Token, o.TakeFinal, r.Order.Take)...)
	row = append(row, p.text(give.Chain, o.Terms.Maker), p.text(take.Chain, o.Terms.Receiver))
	if o.Fulfilled == nil {
		return append(row, "", o.Created.At.Tx.String(), "")
	}
	return append(row, p.text(take.Chain, o.Fulfilled.Fact.Taker), o.Created.At.Tx.String(), o.Fulfilled.At.Tx.String())
}

func (p *Views) exportedSide(id chain.ID, address chain.Address, amount chain.Amount, t token.Token) []string {
	whole := ""
	if t.Symbol != "" {
		whole = amount.Units(t.Decimals).FloatString(int(t.Decimals))
	}
	return []string{strconv.FormatUint(uint64(id), 10), p.text(id, address), t.Symbol, whole, amount.String()}
}

func (p *Views) text(id chain.ID, a chain.Address) string { return a.Format(p.Chains.Family(id)) }
