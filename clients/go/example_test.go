package crossgate_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	crossgate "crossgate/clients/go"
)

func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	gateway := crossgate.Client{URL: "http://127.0.0.1:8080"}
	const creation = "0xa42d9c98b051fdc7dad90512a93b402fba2e7597f388dc2017f523c179b56c00"
	for order, err := range gateway.WatchOrder(ctx, creation) {
		if refused, is := errors.AsType[*crossgate.Error](err); is && refused.ID == "TRANSACTION_WITHOUT_ORDER" {
			fmt.Println("the transaction created no order")
			return
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %v %s on chain %d\n", order.State, order.Take.Amount, order.Take.Symbol, order.Take.Chain)
	}
}
