package bank;

public class SavingsAccount extends Account {
    @Override
    public long fee() {
        return 0;
    }

    public void addInterest(int percent) {
        deposit(balance() * percent / 100);
    }
}
