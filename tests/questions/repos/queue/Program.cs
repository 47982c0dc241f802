using Queue;

var queue = new JobQueue();
queue.Limit = 5;
queue.Enqueue(new PrintJob());
