import type { User } from '@bakehouse/contract/accounts';
import { Link } from '@tanstack/react-router';
import { navGroups } from './nav-items.ts';

type Props = {
  /** Null until the session is known. */
  user: User | null;
  onNavigate?: () => void;
};

/** The groups of pages. Also the slide-in menu's content; `onNavigate` closes that. */
export function Sidebar({ user, onNavigate }: Props) {
  return (
    <nav aria-label="Main" className="flex flex-col gap-5">
      {navGroups(user?.is_operator ?? false).map((group) => (
        <div key={group.label ?? 'top'}>
          {group.label && <h2 className="mb-1 px-2.5 font-medium text-faint text-xs">{group.label}</h2>}
          <ul className="flex flex-col gap-px">
            {group.items.map(({ label, to, icon: Icon }) => (
              <li key={to}>
                <Link
                  to={to}
                  onClick={onNavigate}
                  className="flex h-8 items-center gap-2.5 rounded-lg px-2.5 font-medium text-muted transition-colors hover:bg-hover hover:text-ink data-[status=active]:bg-hover data-[status=active]:text-ink [&_svg]:data-[status=active]:text-accent-text"
                >
                  <Icon aria-hidden className="size-4 shrink-0" />
                  {label}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
