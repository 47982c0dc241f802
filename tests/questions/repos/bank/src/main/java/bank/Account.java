package bank;

import java.util.ArrayList;
import java.util.List;

/** An account with a balance. */
public abstract class Account implements Comparable<Account> {
    private final List<Long> moves = new ArrayList<>();

    /** Put money in. */
    public void deposit(long cents) {
        if (cents <= 0) {
            throw new IllegalArgumentException("not a deposit: " + cents);
        }
        moves.add(cents);
    }

    public long balance() {
        return moves.stream().mapToLong(Long::longValue).sum();
    }

    public abstract long fee();

    @Override
    public int compareTo(Account other) {
        return Long.compare(balance(), other.balance());
    }
}
