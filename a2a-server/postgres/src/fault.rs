//! Deliberate faults of the store. A case of the suite or a test must detect each.

macro_rules! faults {
    ($($fault:ident $([$($from:literal => $to:literal),+])?;)*) => {
        /// A promise that the store breaks.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        #[doc(hidden)]
        #[allow(missing_docs)]
        pub enum Fault {
            $($fault),*
        }

        impl Fault {
            /// Injects the fault into a statement; returns `None` if it does not concern that statement.
            pub(crate) fn change(self, text: &str) -> Option<String> {
                let changes: &[(&str, &str)] = match self {
                    $(Self::$fault => &[$($(($from, $to)),+)?],)*
                };
                let change = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
                let changed = changes.iter().fold(text.to_owned(), change);
                (changed != text).then_some(changed)
            }
        }
    };
}

faults! {
    IgnoresEpoch [" and lease_epoch = $" => " and -1 <> $"];
    IgnoresSequence [
        " and sequence = $" => " and -1 <> $",
        "from u)" => "from u on conflict (task, sequence) do update set body = excluded.body)"
    ];
    IgnoresLeases ["lease_until is null or lease_until <= clock_timestamp() or lease_owner = $" => "'' <> $"];
    KeepsLeases ["lease_until is null or lease_until <= clock_timestamp() or lease_owner = $" => "lease_until is null or lease_owner = $"];
    RenewsAnybody ["where busy and lease_owner = $1" => "where busy and $1 <> ''"];
    ReordersEvents ["where t.key = $1 order by e.sequence" => "where t.key = $1 order by e.sequence desc"];
    ForgetsOutbox ["where c.task = u.seq returning" => "where c.task = u.seq and false returning"];
    NotifiesLaterFirst ["order by b.sequence limit 1" => "order by b.sequence desc limit 1"];
    NotifiesTwice [
        "attempt + 1, next_at = clock_timestamp() + $2 *" => "attempt + 1, next_at = next_at + 0 * $2 *",
        "is_due then clock_timestamp() + $2 *" => "is_due then clock_timestamp() + 0 * $2 *"
    ];
    SettlesAnyAttempt ["o.attempt = $4" => "-1 <> $4"];
    ForgetsReceipts ["from u), v as" => "from u on conflict (key) do nothing), v as"];
    KeepsReceipts [" and expires > clock_timestamp()" => ""];
    MixesOwners;
    ListsAllOwners ["owner_key = $1" => "$1 is not null"];
    ReservesTwice [
        "where held.holder = excluded.holder or held.number = $4 and held.until <= clock_timestamp()" =>
            "where -1 <> coalesce($4, 0)"
    ];
    KeepsReservations [" or held.number = $4 and held.until <= clock_timestamp()" => " or false and held.number = $4"];
    ReleasesAny ["key = $1 and number = $2" => "key = $1 and -1 <> $2"];
    GivesCommandsTwice ["set taken = true, body = ''" => "set taken = false"];
    GivesCommandsToAnyServer ["t.lease_owner = $1 and" => "$1 <> '' and"];
    KeepsWithdrawnCommands ["delete from @command where id = $1 and not taken returning 1" => "select 1 from @command where id = $1 and not taken"];
    TakesAnyNumberOfCommands ["known.count < $4" => "0 < $4"];
    SweepsByBeginning ["order by ended, seq" => "order by seq"];
    SweepsActive [
        "where waits < clock_timestamp()" => "where coalesce(waits, 'epoch') < clock_timestamp() and ended is null",
        "(lease_until is null or lease_until <= clock_timestamp()) order by waits" => "true order by waits"
    ];
    SweepsLeased [
        "(lease_until is null or lease_until <= clock_timestamp()) order by waits" => "true order by waits",
        "t.lease_until is null or t.lease_until <= clock_timestamp()" => "true"
    ];
    NeverLooks ["where t.sequence is null or t.sequence > w.head" => "where false"];
}
