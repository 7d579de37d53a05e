import { parseBgl } from '@bakehouse/contract/money';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { cx } from '../../lib/cx.ts';
import { currencyChoice, showShort } from '../../lib/format/currency.ts';
import { Money } from '../../ui/money.tsx';
import { notify } from '../../ui/notify.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useUser } from '../accounts/session.ts';
import { useBalance } from './credit-queries.ts';

const FLASH_MS = 1_000;

/** The available balance in the header. Flashes green or red for a second when it changes. */
export function BalanceWidget() {
  const user = useUser();
  const currency = currencyChoice.use();
  const { data, isError, errorUpdateCount, refetch } = useBalance(user.id);
  const flash = useFlash(data?.available);

  useEffect(() => {
    if (!isError) return;
    notify.warning('Balance information may be outdated. Please refresh page to see current balance.', {
      id: 'balance',
      durationMs: 8_000,
      action: { label: 'Refresh', onClick: () => void refetch() },
    });
    // Depends on the error count, so that each failed read warns again.
  }, [isError, errorUpdateCount, refetch]);

  return (
    <div className="relative flex h-9 items-center rounded-lg border border-line-strong bg-surface">
      {/* A sibling of the links: each flash is a new element, and remounting a parent would lose the focus. */}
      {flash && (
        <span
          key={flash.at}
          aria-hidden
          className={cx(
            'absolute inset-0 animate-[flash_1s_ease-out] rounded-lg',
            flash.up ? '[--flash:var(--good-soft)]' : '[--flash:var(--bad-soft)]',
          )}
        />
      )}
      <Link
        to="/transactions"
        className="relative flex h-full items-center rounded-l-lg px-3 font-semibold hover:bg-hover max-[25rem]:px-2"
      >
        <span className="sr-only">Balance:</span>
        {data ? (
          <>
            <Money plain bgl={data.available} className="max-[30rem]:hidden" />
            <span className="whitespace-nowrap tabular-nums min-[30rem]:hidden max-[25rem]:text-compact">
              {showShort(data.available, currency)}
            </span>
          </>
        ) : isError ? (
          <>
            <span aria-hidden>–</span>
            <span className="sr-only">not known</span>
          </>
        ) : (
          <Skeleton className="h-4 w-14" />
        )}
      </Link>
      <Link
        to="/buy-bagels"
        aria-label="Get credits"
        className="relative flex h-full w-8 items-center justify-center rounded-r-lg border-line-strong border-l text-muted hover:bg-hover hover:text-ink max-[25rem]:w-7"
      >
        <Plus aria-hidden className="size-4" />
      </Link>
    </div>
  );
}

function useFlash(amount: string | undefined): { at: number; up: boolean } | null {
  const previous = useRef(amount);
  const [flash, setFlash] = useState<{ at: number; up: boolean } | null>(null);
  useEffect(() => {
    const before = previous.current;
    previous.current = amount;
    if (before === undefined || amount === undefined || before === amount) return;
    setFlash((last) => ({ at: (last?.at ?? 0) + 1, up: parseBgl(amount) > parseBgl(before) }));
    const timer = setTimeout(() => setFlash(null), FLASH_MS);
    return () => clearTimeout(timer);
  }, [amount]);
  return flash;
}
