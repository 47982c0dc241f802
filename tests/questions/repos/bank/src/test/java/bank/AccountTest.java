package bank;

class AccountTest {
    void depositAddsUp() {
        Account account = new SavingsAccount();
        account.deposit(100);
        assert account.balance() == 100;
    }
}
