package sandbox

import (
	"strings"
	"text/template"
)

// gatewayConfig differs from the configuration of a real deployment in its URLs, and reads the chains from their first
// block because they are short. No explorer knows their transactions.
var gatewayConfig = template.Must(template.New("config").Parse(`# A gateway in front of this sandbox.
index: {path: {{printf "%q" .Index}}, lookback: 0}
chains:
{{- range .World.Chains}}
  - {id: {{.Facts.ID}}, explorer: none, endpoints: [{url: "{{.RPC}}{{if eq .Facts.Family.String "tron"}}/jsonrpc{{end}}"}]}
{{- end}}
{{- with .World.Solana}}
  - {id: {{.Facts.ID}}, explorer: none, firstBlock: {{.Facts.FirstBlock}}, endpoints: [{url: "{{.RPC}}"}]}
{{- end}}
venues:
{{- range .World.Venues}}
  - {name: {{.Name}}, endpoints: [{url: "{{.URL}}"}]{{with .Key}}, key: "{{.}}"{{end}}}
{{- end}}
{{- range .World.Exchanges}}
  - {name: {{.}}}
{{- end}}
prices: {defillama: [{url: "{{.World.Prices.URL}}"}]}
telemetry: {admin: "127.0.0.1:0"} # several may run side by side
`))

// Config returns the configuration file of a gateway that knows this world only and keeps its orders in the file at
// indexPath.
func (w *World) Config(indexPath string) []byte {
	var text strings.Builder
	err := gatewayConfig.Execute(&text, struct {
		World *World
		Index string
	}{w, indexPath})
	if err != nil {
		panic("sandbox: the template of the configuration: " + err.Error())
	}
	return []byte(text.String())
}
