package quote

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrNoTransaction means that venues which may well have a route did not come up with a transaction. It is
// wrapped together with what kept each of them from it.
var ErrNoTransaction = errors.New("no venue made a transaction")

// noVenueFits is the failure of a request for which every venue was left out.
func noVenueFits(leftOut []Asked) error {
	var reasons causes
	fault := ErrNoRoute
	for _, one := range leftOut {
		reasons = append(reasons, fmt.Errorf("%s: %w", one.Venue, one.Err))
		if errors.Is(one.Err, ErrNoAffiliate) {
			fault = ErrNoAffiliate
		}
	}
	return fmt.Errorf("%w: %v", fault, reasons)
}

// failure is the one error that explains why nothing can be returned: ErrNoRoute when no venue had a route, the fault
// of the request when all that answered agree on one, or when one is decisive, and otherwise ErrNoTransaction with the
// failures of the venues.
func (c *comparison) failure() error {
	var faults, failures, absent causes
	for _, one := range c.rejected {
		if one.Verdict == LeftOut {
			continue
		}
		err := fmt.Errorf("%s: %w", one.Venue, one.Err)
		if isDecisive(err) {
			return err
		}
		switch {
		case errors.Is(one.Err, ErrUnsupportedChain): // though it should be there
			absent = append(absent, err)
		case requestFault(one.Err) != nil:
			faults = append(faults, err)
		default:
			failures = append(failures, err)
		}
	}
	if len(faults)+len(failures) == 0 && len(absent) > 0 {
		return fmt.Errorf("%w: %v", ErrUnsupportedChain, absent)
	}
	if len(faults) == 0 || c.quoted && len(failures) > 0 {
		return fmt.Errorf("%w: %w", ErrNoTransaction, failures)
	}
	shared := requestFault(faults[0])
	if slices.ContainsFunc(c.rejected, func(one Asked) bool { return errors.Is(one.Err, ErrNoAffiliate) }) {
		return fmt.Errorf("%w: %v", ErrNoAffiliate, append(faults, failures...))
	}
	for _, fault := range faults {
		if !errors.Is(fault, shared) {
			shared = ErrNoRoute
		}
	}
	// Venues that did not answer are mentioned, but do not decide the error.
	return fmt.Errorf("%w: %v", shared, append(faults, failures...))
}

// isDecisive reports whether no venue could make another transaction of the request.
func isDecisive(err error) bool {
	return errors.Is(err, ErrSenderLacks) || errors.Is(err, ErrNoMinimum)
}

// requestFault returns the sentinel by which err blames the request, nil when it does not.
func requestFault(err error) error {
	for _, fault := range []error{ErrUnsupportedTokenIn, ErrUnsupportedTokenOut, ErrNoRoute, ErrUnsupportedChain} {
		if errors.Is(err, fault) {
			return fault
		}
	}
	return nil
}

// causes are several errors in one line.
type causes []error

func (c causes) Error() string {
	texts := make([]string, len(c))
	for i, err := range c {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

func (c causes) Unwrap() []error { return c }
