import type { User } from '@bakehouse/contract/accounts';
import { useState } from 'react';
import { Sheet } from '../ui/sheet.tsx';
import { CurrencySwitch } from './currency-switch.tsx';
import { Sidebar } from './sidebar.tsx';

/** The slide-in menu of narrow screens and of pages without a sidebar. */
export function MobileMenu({ user, onClose }: { user: User | null | undefined; onClose: () => void }) {
  const [open, setOpen] = useState(true);
  const close = () => {
    setOpen(false);
    // After it has slid out.
    setTimeout(onClose, 200);
  };
  return (
    <Sheet open={open} onClose={close} title="Menu" side="left" size="sm">
      <Sidebar user={user} onNavigate={close} />
      {user !== null && (
        <div className="mt-6 flex items-center justify-between border-line border-t px-2.5 pt-5">
          <span className="font-medium text-muted">Currency</span>
          <CurrencySwitch />
        </div>
      )}
    </Sheet>
  );
}
