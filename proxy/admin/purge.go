package admin

import (
	"net/http"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
)

// purge drops cached answers: those about an order or a chain, or those of a host, all or at given paths. After a soft
// purge such an answer is served stale until it has been loaded again; after a hard one it is not served at all.
func (a *admin) purge(w http.ResponseWriter, r *http.Request) {
	form := r.Form // of the query and the body
	how, known := map[string]cache.Purge{"": cache.Soft, "soft": cache.Soft, "hard": cache.Hard}[form.Get("how")]
	if !known {
		a.refuse(w, r, http.StatusBadRequest, "how must be soft or hard")
		return
	}
	if hosts := given(form, "host"); len(hosts) > 0 {
		a.purgeHosts(w, r, how, hosts, given(form, "path"))
		return
	}
	var orders []order.ID
	for _, text := range given(form, "order") {
		id, err := chain.ParseHash(text)
		if err != nil {
			a.refuse(w, r, http.StatusBadRequest, "order must be 0x followed by 64 hex digits")
			return
		}
		orders = append(orders, id)
	}
	var chains []chain.ID
	for _, text := range given(form, "chain") {
		id, err := chain.ParseID(text)
		if err != nil {
			a.refuse(w, r, http.StatusBadRequest, "chain must be a chain id")
			return
		}
		chains = append(chains, id)
	}
	count := len(orders) + len(chains)
	if count == 0 {
		a.refuse(w, r, http.StatusBadRequest, "nothing to purge; give at least one order, chain or host")
		return
	}
	a.Server.Purge(how, orders, chains)
	a.Logger.InfoContext(r.Context(), "operator purged cached answers", "hard", how == cache.Hard, "orders", len(orders), "chains", len(chains),
		"by", r.RemoteAddr)
	succeed(w, r, "purge", map[string]int{"purged": count})
}

// purgeHosts drops stored answers of hosts.
func (a *admin) purgeHosts(w http.ResponseWriter, r *http.Request, how cache.Purge, hosts, paths []string) {
	if err := a.Server.PurgeHosts(how, hosts, paths); err != nil {
		a.refuse(w, r, http.StatusBadRequest, err.Error())
		return
	}
	a.Logger.InfoContext(r.Context(), "operator purged hosts", "hard", how == cache.Hard, "hosts", hosts, "paths", len(paths), "by", r.RemoteAddr)
	succeed(w, r, "purge", map[string]int{"purged": len(hosts) * max(len(paths), 1)})
}
