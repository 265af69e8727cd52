package passthrough

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	"crossgate/cache/rfc9111"
)

var errNoTunnel = errors.New("the connection cannot be upgraded")

// tunnel has a client and an origin speak another protocol with each other, if the origin agrees to it. Without its 101
// both stay with HTTP.
func (h *Handler) tunnel(x *exchange) {
	x.outcome = upgraded
	f := h.forwardOf(x)
	f.Header["Connection"], f.Header["Upgrade"] = []string{"Upgrade"}, x.r.Header["Upgrade"]
	ctx, cancel := context.WithCancel(context.WithoutCancel(x.r.Context()))
	defer cancel()
	defer context.AfterFunc(h.ctx, cancel)()
	response, err := h.options.Origins.Forward(ctx, x.host.Name, f)
	if err != nil {
		h.fail(x, err)
		return
	}
	if response.StatusCode != http.StatusSwitchingProtocols {
		writeHead(x.w, response, rfc9111.Status{Forwarded: "bypass", Answered: response.StatusCode})
		stream(x, response, response.Body)
		return
	}
	defer response.Body.Close()
	inside, isBoth := response.Body.(io.ReadWriteCloser)
	client, buffered, err := http.NewResponseController(x.w).Hijack()
	if err != nil || !isBoth {
		h.fail(x, errNoTunnel)
		return
	}
	defer client.Close()
	if err := writeSwitch(client, response.Header); err != nil {
		return
	}
	var copying sync.WaitGroup
	copyTo := func(to io.Writer, from io.Reader) {
		defer cancel()
		_, _ = io.Copy(to, from) // ends with either side
	}
	copying.Go(func() { copyTo(inside, buffered) })
	copying.Go(func() { copyTo(client, inside) })
	<-ctx.Done()
	_ = client.Close()
	_ = response.Body.Close()
	copying.Wait()
}

// writeSwitch sends the client the 101 of the origin.
func writeSwitch(to io.Writer, header http.Header) error {
	upgrade := header["Upgrade"]
	rfc9111.DropHopByHop(header)
	header["Connection"], header["Upgrade"] = []string{"Upgrade"}, upgrade
	if _, err := io.WriteString(to, "HTTP/1.1 101 Switching Protocols\r\n"); err != nil {
		return err
	}
	if err := header.Write(to); err != nil {
		return err
	}
	_, err := io.WriteString(to, "\r\n")
	return err
}
