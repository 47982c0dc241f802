using System;
using System.Collections.Generic;

namespace Queue
{
    public interface IJob
    {
        void Run();
    }

    /// <summary>Runs jobs in order.</summary>
    public class JobQueue
    {
        private readonly Queue<IJob> jobs = new Queue<IJob>();

        public int Limit { get; set; } = 10;

        public void Enqueue(IJob job)
        {
            if (jobs.Count >= Limit)
            {
                throw new InvalidOperationException("queue is full");
            }
            jobs.Enqueue(job);
        }
    }

    public class PrintJob : IJob
    {
        public void Run() => Console.WriteLine("printed");
    }
}
