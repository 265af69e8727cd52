package admin

import (
	"crypto/subtle"
	"net/http"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
)

// guarded lets requests through that carry the operators' token and do not come from a page of another origin in an
// operator's browser. Without a configured token it refuses all of them.
func (a admin) guarded(next http.HandlerFunc) http.Handler {
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, want := []byte(r.Header.Get("Authorization")), []byte("Bearer "+a.Token)
		if a.Token == "" || subtle.ConstantTimeCompare(given, want) != 1 {
			writeError(w, http.StatusUnauthorized, "missing or wrong token; send telemetry.token as a bearer token")
			return
		}
		next(w, r)
	}))
}

// purge drops cached answers: those about an order or a chain, or the one at a path; with a host what is stored of
// that, all of it or at its paths. After a soft purge such an answer is served stale until it has been loaded again;
// after a hard one it is not served at all.
func (a admin) purge(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	how, known := map[string]cache.Purge{"": cache.Soft, "soft": cache.Soft, "hard": cache.Hard}[query.Get("how")]
	if !known {
		writeError(w, http.StatusBadRequest, "how must be soft or hard")
		return
	}
	if hosts := query["host"]; len(hosts) > 0 {
		a.purgeHosts(w, r, how, hosts, query["path"])
		return
	}
	var orders []order.ID
	for _, text := range query["order"] {
		id, err := chain.ParseHash(text)
		if err != nil {
			writeError(w, http.StatusBadRequest, "order must be 0x followed by 64 hex digits")
			return
		}
		orders = append(orders, id)
	}
	var chains []chain.ID
	for _, text := range query["chain"] {
		id, err := chain.ParseID(text)
		if err != nil {
			writeError(w, http.StatusBadRequest, "chain must be a chain id")
			return
		}
		chains = append(chains, id)
	}
	paths := query["path"]
	count := len(orders) + len(chains) + len(paths)
	if count == 0 {
		writeError(w, http.StatusBadRequest, "nothing to purge; give at least one order, chain or path")
		return
	}
	if err := a.Server.Purge(how, orders, chains, paths); err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	a.Logger.InfoContext(r.Context(), "operator purged cached answers", "hard", how == cache.Hard, "orders", len(orders), "chains", len(chains),
		"paths", len(paths), "by", r.RemoteAddr)
	writeJSON(w, http.StatusOK, map[string]int{"purged": count})
}

// purgeHosts drops what is stored of hosts.
func (a admin) purgeHosts(w http.ResponseWriter, r *http.Request, how cache.Purge, hosts, paths []string) {
	if err := a.Server.PurgeHosts(how, hosts, paths); err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	a.Logger.InfoContext(r.Context(), "operator purged hosts", "hard", how == cache.Hard, "hosts", hosts, "paths", len(paths), "by", r.RemoteAddr)
	writeJSON(w, http.StatusOK, map[string]int{"purged": len(hosts) * max(len(paths), 1)})
}
