import type { User } from '@bakehouse/contract/accounts';
import { Link, useLocation } from '@tanstack/react-router';
import { ArrowUpRight } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import { cx } from '../../lib/cx.ts';
import { useOpenSheet, useSheets } from '../../lib/sheet.ts';
import { useHelpLinks } from '../../modules/documentation/help-links.ts';
import { findSheet } from '../all-sheets.ts';
import { findSelected, type NavItem, navGroups } from './nav-items.ts';

type Props = {
  /** Null for a visitor; undefined until the session is known. */
  user: User | null | undefined;
  /** The highlighted page, if it isn't the current one. */
  page?: string | undefined;
  onNavigate?: () => void;
  /** Adds the label as a hint to an item. If set, items show only their icons. */
  withHint?: (label: string, item: ReactElement) => ReactNode;
};

/** Navigation by groups. Also used in the slide-in menu; `onNavigate` closes that. */
export function Sidebar({ user, page, onNavigate, withHint }: Props) {
  const { pathname } = useLocation();
  const groups = navGroups(user, useHelpLinks().documentation);
  const selected = findSelected(groups, {
    pathname: page ?? pathname,
    sheet: findSheet(useOpenSheet()?.name),
  });
  return (
    <nav aria-label="Main" className="flex flex-col gap-5">
      {groups.map((group) => (
        <div key={group.items[0]?.label}>
          {group.label && (
            <h2 className={withHint ? 'sr-only' : 'mb-1 px-2.5 font-medium text-faint text-xs'}>
              {group.label}
            </h2>
          )}
          <ul className="flex flex-col gap-px">
            {group.items.map((item) => (
              <li key={item.label}>
                {withHint?.(item.label, <Item item={item} selected={item === selected} isRail />) ?? (
                  <Item item={item} selected={item === selected} onNavigate={onNavigate} />
                )}
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

type ItemProps = {
  item: NavItem;
  selected: boolean;
  onNavigate?: (() => void) | undefined;
  isRail?: boolean;
};

/** A tooltip adds its own properties, so the rest is passed on. */
function Item({ item, selected, onNavigate, isRail, ...tooltip }: ItemProps) {
  const sheets = useSheets();
  const shared = {
    ...tooltip,
    className: cx(itemClass, isRail && 'justify-center'),
    'data-selected': selected || undefined,
  };
  const content = (
    <>
      <item.icon aria-hidden />
      <span className={cx(isRail && 'sr-only')}>{item.label}</span>
    </>
  );
  switch (item.kind) {
    case 'route':
      return (
        <Link {...shared} to={item.to} onClick={onNavigate}>
          {content}
        </Link>
      );
    case 'sheet':
      return (
        <button
          {...shared}
          type="button"
          aria-haspopup="dialog"
          onClick={() => {
            onNavigate?.();
            sheets.open(item.sheet);
          }}
        >
          {content}
        </button>
      );
    case 'link':
      return (
        <a {...shared} href={item.href} target="_blank" rel="noreferrer" onClick={onNavigate}>
          {content}
          {!isRail && <ArrowUpRight aria-hidden className="ml-auto text-faint" />}
          <span className="sr-only">(opens in a new tab)</span>
        </a>
      );
  }
}
