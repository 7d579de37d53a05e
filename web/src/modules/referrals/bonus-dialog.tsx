import { useNavigate } from '@tanstack/react-router';
import { CircleAlert, Gift } from 'lucide-react';
import { useRef } from 'react';
import { showAmount } from '../../lib/format/currency.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import type { Welcome } from './api.ts';

const REFUSED =
  'We encountered an issue: Invalid code or reached maximum limit of invites. Please try again later or contact support if the problem persists.';

/** What became of the invitation by which somebody came: the bonus that the ledger has, or that there is none. */
export function BonusDialog({ welcome, onClose }: { welcome: Welcome | null; onClose: () => void }) {
  const navigate = useNavigate();
  // While it closes it goes on showing what it showed.
  const last = useRef(welcome);
  if (welcome) last.current = welcome;
  const shown = last.current;
  const leave = () => {
    onClose();
    void navigate({ to: '/dashboard' });
  };
  return (
    <Dialog
      open={welcome !== null}
      onOpenChange={(open) => !open && onClose()}
      title={shown?.kind === 'given' ? 'Your bonus is here' : 'No bonus this time'}
      size="sm"
      footer={
        <Button variant="primary" onClick={leave}>
          Go to Dashboard
        </Button>
      }
    >
      {shown?.kind === 'given' ? (
        <Given bonus={shown.bonus} />
      ) : (
        <div className="flex gap-3">
          <CircleAlert aria-hidden className="mt-0.5 size-5 shrink-0 text-bad" />
          <p>{REFUSED}</p>
        </div>
      )}
    </Dialog>
  );
}

function Given({ bonus }: { bonus: string }) {
  return (
    <div className="flex flex-col items-center py-2 text-center">
      <span className="flex size-12 items-center justify-center rounded-2xl bg-accent-soft text-accent-text">
        <Gift aria-hidden className="size-6" />
      </span>
      <p className="mt-4 font-semibold text-3xl tabular-nums tracking-tight">{showAmount(bonus)}</p>
      <p className="mt-1 text-muted">
        has been added to your balance, and your friend got the same. You can spend these credits on anything
        here, but you cannot send them to others.
      </p>
    </div>
  );
}
