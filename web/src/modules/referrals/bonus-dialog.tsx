import { useNavigate } from '@tanstack/react-router';
import { CircleAlert, Gift } from 'lucide-react';
import { useState } from 'react';
import { showAmount } from '../../lib/format/currency.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import type { ReferralResult } from './referral-calls.ts';

const REFUSED =
  'We encountered an issue: Invalid code or reached maximum limit of invites. Please try again later or contact support if the problem persists.';

/**
 * Result of the invitation that the user signed up with: the credited bonus, or why there is none. Initially
 * open.
 */
export function BonusDialog({ welcome }: { welcome: ReferralResult }) {
  const navigate = useNavigate();
  const [open, setOpen] = useState(true);
  const leave = () => {
    setOpen(false);
    void navigate({ to: '/dashboard' });
  };
  return (
    <Dialog
      open={open}
      onOpenChange={setOpen}
      title={welcome.kind === 'given' ? 'Your bonus is here' : 'No bonus this time'}
      size="sm"
      footer={
        <Button variant="primary" onClick={leave}>
          Go to Dashboard
        </Button>
      }
    >
      {welcome.kind === 'given' ? (
        <Given bonus={welcome.bonus} />
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
        here.
      </p>
    </div>
  );
}
