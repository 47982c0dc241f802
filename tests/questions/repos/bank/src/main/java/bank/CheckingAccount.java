package bank;

public final class CheckingAccount extends Account {
    @Override
    public long fee() {
        return 250;
    }
}
