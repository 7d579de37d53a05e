import type { User } from '@bakehouse/contract/accounts';
import { useState } from 'react';
import { Sheet } from '../../ui/sheet.tsx';
import { CurrencySwitch } from '../header/currency-switch.tsx';
import { SearchBox } from '../search/search-box.tsx';
import { Sidebar } from './sidebar.tsx';

type Props = {
  /** Null for a visitor; undefined until the session is known. */
  user: User | null | undefined;
  page: string | undefined;
  open: boolean;
  onClose: () => void;
  /** Opens the palette with the text typed in the search box. */
  onOpenPalette: (typed: string) => void;
};

/** The slide-in menu, for narrow screens and pages without a sidebar. */
export function MobileMenu({ user, page, open, onClose, onOpenPalette }: Props) {
  const [typed, setTyped] = useState('');
  const close = () => {
    setTyped('');
    onClose();
  };
  return (
    <Sheet open={open} onClose={close} title="Menu" side="left" size="sm">
      {user && (
        <div className="mb-5">
          <SearchBox
            typed={typed}
            onType={setTyped}
            onChosen={close}
            onOpenPalette={() => {
              close();
              onOpenPalette(typed);
            }}
          />
        </div>
      )}
      <Sidebar user={user} page={page} onNavigate={close} />
      {user !== null && (
        <div className="mt-6 flex items-center justify-between border-line border-t px-2.5 pt-5">
          <span className="font-medium text-muted">Currency</span>
          <CurrencySwitch />
        </div>
      )}
    </Sheet>
  );
}
