package sandbox

import (
	"encoding/json"
	"net/http"
	"slices"

	"crossgate/chain"
)

// handler serves the whole world: each chain's RPC, each venue, and the control calls.
func (w *World) handler() http.Handler {
	mux := http.NewServeMux()
	for _, c := range w.chains {
		path := "/rpc/" + c.Facts.ID.String()
		c.RPC, c.EVMRPC = w.url+path, w.url+path
		guarded := w.faults.guardChain(c.Facts.ID.String(), c.behind)
		if c.Facts.Family == chain.TVM {
			c.EVMRPC = c.RPC + "/evm"
			mux.Handle(path+"/evm", allowBrowsers(c.node))
			mux.Handle(path+"/jsonrpc", guarded) // as on TRON's nodes, next to the HTTP API
			mux.Handle(path+"/wallet/", allowBrowsers(c.behind(0)))
			mux.Handle(path+"/walletsolidity/", allowBrowsers(c.behind(0)))
		}
		mux.Handle(path, guarded)
	}
	path := "/rpc/" + chain.Solana.String()
	w.solana.RPC = w.url + path
	mux.Handle(path, w.faults.guardChain(chain.Solana.String(), w.solana.ledger.NodeBehind))
	w.openVenues(mux)
	slices.Sort(w.faults.targets)
	w.openControl(mux)
	return mux
}

// allowBrowsers lets web pages call next, as public endpoints do.
func allowBrowsers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		if r.Method == http.MethodOptions {
			w.Header().Set("Access-Control-Allow-Headers", "*")
			w.Header().Set("Access-Control-Allow-Methods", "GET, POST")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(body) // the client has gone
}

func refuse(w http.ResponseWriter, status int, err error) {
	answer(w, status, map[string]string{"error": err.Error()})
}
