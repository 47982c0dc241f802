<?php

namespace Mail;

use InvalidArgumentException;

/** Sends letters. */
class Mailer implements Transport
{
    private string $sender;

    public function __construct(string $sender)
    {
        $this->sender = $sender;
    }

    public function deliver(string $to): bool
    {
        if ($to === '') {
            throw new InvalidArgumentException('no recipient');
        }
        return send_raw($this->sender, $to);
    }
}
