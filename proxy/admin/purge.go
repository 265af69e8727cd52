package admin

import (
	"net/http"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
)

// purge purges cached answers about orders and chains, and stored responses of hosts, all or at given paths. After a
// soft purge they are served stale until loaded again; after a hard one they are not served at all.
func (a *admin) purge(w http.ResponseWriter, r *http.Request) {
	form := r.Form // of the query and the body
	how, known := map[string]cache.Purge{"": cache.Soft, "soft": cache.Soft, "hard": cache.Hard}[form.Get("how")]
	if !known {
		a.refuse(w, r, http.StatusBadRequest, "how must be soft or hard")
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
		if _, known := a.Pages.Chains.Chain(id); err != nil || !known {
			a.refuse(w, r, http.StatusBadRequest, "chain must be the id of a documented or configured chain")
			return
		}
		chains = append(chains, id)
	}
	hosts, paths := given(form, "host"), given(form, "path")
	switch {
	case len(hosts) == 0 && len(paths) > 0:
		a.refuse(w, r, http.StatusBadRequest, "a path is purged of a host: give its name as well")
		return
	case len(orders)+len(chains)+len(hosts) == 0:
		a.refuse(w, r, http.StatusBadRequest, "nothing to purge; give at least one order, chain or host")
		return
	case len(hosts) > 0:
		if err := a.Server.PurgeHosts(how, hosts, paths); err != nil {
			a.refuse(w, r, http.StatusBadRequest, err.Error())
			return
		}
	}
	if len(orders)+len(chains) > 0 {
		a.Server.Purge(how, orders, chains)
	}
	a.Logger.InfoContext(r.Context(), "operator purged cached answers", "hard", how == cache.Hard, "orders", len(orders), "chains", len(chains),
		"hosts", hosts, "paths", len(paths), "by", r.RemoteAddr)
	succeed(w, r, "purge", map[string]int{"purged": len(orders) + len(chains) + len(hosts)*max(len(paths), 1)})
}
