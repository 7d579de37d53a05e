import type { User } from '@bakehouse/contract/accounts';
import { Link, useLocation } from '@tanstack/react-router';
import { ArrowUpRight } from 'lucide-react';
import { useOpenSheet } from '../lib/sheet.ts';
import { isSelected, navGroups, type PageItem } from './nav-items.ts';
import { findSheet } from './open-sheets.tsx';

type Props = {
  /** Null for a visitor, undefined until the session is known. */
  user: User | null | undefined;
  onNavigate?: () => void;
};

/** The groups of pages. Also the slide-in menu's content; `onNavigate` closes that. */
export function Sidebar({ user, onNavigate }: Props) {
  const { pathname } = useLocation();
  const sheet = findSheet(useOpenSheet()?.name);
  return (
    <nav aria-label="Main" className="flex flex-col gap-5">
      {navGroups(user).map((group) => (
        <div key={group.label ?? 'top'}>
          {group.label && <h2 className="mb-1 px-2.5 font-medium text-faint text-xs">{group.label}</h2>}
          <ul className="flex flex-col gap-px">
            {group.items.map((item) => (
              <li key={item.label}>
                <Item item={item} selected={isSelected(item, { pathname, sheet })} onNavigate={onNavigate} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

const itemClass =
  'flex h-8 w-full items-center gap-2.5 rounded-lg px-2.5 text-left font-medium text-muted transition-colors hover:bg-hover hover:text-ink data-selected:bg-hover data-selected:text-ink [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:data-selected:text-accent-text';

type ItemProps = { item: PageItem; selected: boolean; onNavigate: (() => void) | undefined };

function Item({ item, selected, onNavigate }: ItemProps) {
  const shared = { className: itemClass, 'data-selected': selected || undefined };
  const content = (
    <>
      <item.icon aria-hidden />
      {item.label}
    </>
  );
  switch (item.kind) {
    case 'route':
      return (
        <Link {...shared} to={item.to} onClick={onNavigate}>
          {content}
        </Link>
      );
    case 'link':
      return (
        <a {...shared} href={item.href} target="_blank" rel="noreferrer" onClick={onNavigate}>
          {content}
          <ArrowUpRight aria-hidden className="ml-auto text-faint" />
          <span className="sr-only">(opens in a new tab)</span>
        </a>
      );
  }
}
