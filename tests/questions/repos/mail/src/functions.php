<?php

namespace Mail;

interface Transport
{
    public function deliver(string $to): bool;
}

function send_raw(string $from, string $to): bool
{
    return mail($to, 'Hello', 'Hello from ' . $from);
}
