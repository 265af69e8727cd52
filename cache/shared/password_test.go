package shared

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"crossgate/internal/must"
)

// TestServersDoNotTellThePassword has a server that does not know AUTH, and quotes it as Redis does commands that it
// does not know (processCommand in server.c).
func TestServersDoNotTellThePassword(t *testing.T) {
	for _, user := range []string{"", "gateway"} {
		listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		var serving sync.WaitGroup
		serving.Go(func() {
			there, err := listener.Accept()
			if err != nil {
				return
			}
			defer there.Close()
			in := bufio.NewReader(there)
			var words []string
			for len(words) < 5 || user != "" && len(words) < 7 {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				words = append(words, strings.TrimSpace(line))
			}
			_, _ = fmt.Fprintf(there, "-ERR unknown command 'AUTH', with args beginning with: '%s'\r\n", strings.Join(words[4:], "' '"))
		})
		s := server{network: "tcp", address: listener.Addr().String(), user: user, password: "canary77c1"}
		_, err := s.dial(t.Context(), time.Minute)
		if err == nil || !strings.Contains(err.Error(), "unknown command") || strings.Contains(err.Error(), s.password) {
			t.Errorf("as %q: %v", user, err)
		}
		listener.Close()
		serving.Wait()
	}
}
