package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"crossgate/config"
	"crossgate/gateway"
	"crossgate/internal/must"
	"crossgate/sandbox"
)

// outsideVariable makes this binary a world; its value is the path of the order index for its gateway.
const outsideVariable = "CROSSGATE_BENCH_OUTSIDE"

func TestMain(m *testing.M) {
	index, server, venue := os.Getenv(outsideVariable), os.Getenv(serverVariable), os.Getenv(lateVariable)
	var err error
	switch {
	case index != "":
		err = beOutside(context.Background(), index)
	case server != "":
		err = beServer(server)
	case venue != "":
		err = beLate(venue)
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// outside is another process: a world, or a server.
type outside struct {
	URL     string // of the world's control
	Config  string // of a gateway in front of it
	Relayed string // likewise, through the relay
	USDC    string // on Ethereum

	index string // path of the order index in Config
	pid   int
	ask   io.Writer
	says  *bufio.Scanner
}

// beOutside runs a world behind a relay until the input ends. It introduces itself and answers every line.
func beOutside(ctx context.Context, index string) error {
	world, err := sandbox.Start(ctx, sandbox.Options{})
	if err != nil {
		return err
	}
	before := &relay{asked: map[string]int{}}
	introduction := outside{URL: world.URL(), Config: string(world.Config(index))}
	if introduction.Relayed, err = before.relay(world, introduction.Config); err != nil {
		return err
	}
	for _, listed := range world.Chains()[0].Tokens {
		if listed.Symbol == "USDC" {
			introduction.USDC = listed.Address.Hex()
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(introduction); err != nil {
		return err
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if err := before.answer(lines.Text()); err != nil {
			return err
		}
	}
	return world.Close()
}

func startOutside(b testing.TB) *outside {
	b.Helper()
	index := filepath.Join(b.TempDir(), "orders.db")
	o := startProcess(b, outsideVariable+"="+index)
	o.index = index
	must.Do(b, json.Unmarshal([]byte(o.line(b)), o))
	return o
}

// startProcess starts this binary again in the role that the environment sets, until the benchmark ends.
func startProcess(b testing.TB, environment ...string) *outside {
	b.Helper()
	process := exec.Command(must.Get(os.Executable())(b))
	process.Env = append(os.Environ(), environment...)
	process.Stderr = os.Stderr
	in, inErr := process.StdinPipe()
	out, outErr := process.StdoutPipe()
	if inErr != nil || outErr != nil {
		b.Fatal(inErr, outErr)
	}
	must.Do(b, process.Start())
	b.Cleanup(func() {
		_ = in.Close() // which stops it
		if err := process.Wait(); err != nil {
			b.Error(err)
		}
	})
	o := &outside{pid: process.Process.Pid, ask: in, says: bufio.NewScanner(out)}
	o.says.Buffer(nil, 1<<20)
	return o
}

func (o *outside) line(b testing.TB) string {
	b.Helper()
	if !o.says.Scan() {
		b.Fatalf("the world has ended: %v", o.says.Err())
	}
	return strings.TrimSpace(o.says.Text())
}

// spent returns the processor time that the world has used.
func (o *outside) spent(b testing.TB) (used time.Duration) {
	b.Helper()
	o.tell(b, "spent", &used)
	return used
}

// tell sends a line to the relay in front of the world and decodes the answer.
func (o *outside) tell(b testing.TB, line string, answer any) {
	b.Helper()
	must.Get(io.WriteString(o.ask, line+"\n"))(b)
	must.Do(b, json.Unmarshal([]byte(o.line(b)), answer))
}

// spent returns the processor time that this process has used.
func spent(b testing.TB) time.Duration {
	b.Helper()
	return must.Get(processorTime())(b)
}

func processorTime() (time.Duration, error) {
	var used syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), err
}

// startGatewayOf starts a gateway that runs until the benchmark ends.
func startGatewayOf(b testing.TB, configuration string) (url string) {
	b.Helper()
	url, stop := runGateway(b, configuration)
	b.Cleanup(stop)
	return url
}

// runGateway starts a gateway that discards its log, and waits until it has read the chains.
func runGateway(b testing.TB, configuration string) (url string, stop func()) {
	b.Helper()
	c := must.Get(config.Parse([]byte(configuration)))(b)
	g := must.Get(gateway.New(b.Context(), c, slog.New(slog.NewJSONHandler(io.Discard, nil))))(b)
	listener := must.Get(new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0"))(b)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx, listener) }()
	must.Do(b, g.AwaitIndexed(b.Context()))
	return "http://" + listener.Addr().String(), func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	}
}
