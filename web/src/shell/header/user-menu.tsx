import type { User } from '@bakehouse/contract/accounts';
import {
  BookOpenText,
  Boxes,
  CircleUser,
  Code,
  Database,
  KeyRound,
  LogOut,
  Monitor,
  Moon,
  Rows3,
  Rows4,
  Sun,
} from 'lucide-react';
import type { ComponentProps } from 'react';
import { densityChoice } from '../../lib/density.ts';
import { currencyChoice } from '../../lib/format/currency.ts';
import { themeChoice } from '../../lib/theme.ts';
import { Avatar } from '../../modules/accounts/avatar.tsx';
import { signOut } from '../../modules/accounts/sign-in/sign-in-calls.ts';
import { useHelpLinks } from '../../modules/documentation/help-links.ts';
import { Menu, MenuAnchor, MenuItem, MenuLink, MenuRadioGroup, MenuSeparator } from '../../ui/menu.tsx';
import { notifyFailure } from '../../ui/notify-failure.ts';

/** Account pages, help, theme, table density, currency on narrow screens, and signing out. */
export function UserMenu({ user }: { user: User }) {
  const { documentation, github } = useHelpLinks();
  return (
    <Menu trigger={<AccountButton user={user} />}>
      <div className="px-2.5 pt-1.5 pb-2">
        <div className="truncate font-medium">{user.username}</div>
        <div className="truncate text-muted text-xs">{user.email}</div>
      </div>
      <MenuSeparator />
      <MenuLink to="/profile" icon={<CircleUser aria-hidden />}>
        Profile
      </MenuLink>
      <MenuLink to="/dataset" icon={<Database aria-hidden />}>
        My Datasets
      </MenuLink>
      <MenuLink to="/model" icon={<Boxes aria-hidden />}>
        My Models
      </MenuLink>
      <MenuLink to="/api-key" icon={<KeyRound aria-hidden />}>
        API-Key
      </MenuLink>
      {documentation === null ? (
        <MenuLink to="/docs" icon={<BookOpenText aria-hidden />}>
          Documentation
        </MenuLink>
      ) : (
        <MenuAnchor href={documentation} icon={<BookOpenText aria-hidden />}>
          Documentation
        </MenuAnchor>
      )}
      {github !== null && (
        <MenuAnchor href={github} icon={<Code aria-hidden />}>
          GitHub
        </MenuAnchor>
      )}
      <MenuSeparator />
      <DisplayChoices />
      <MenuSeparator />
      <MenuItem icon={<LogOut aria-hidden />} onSelect={() => void signOut().catch(notifyFailure)}>
        Sign Out
      </MenuItem>
    </Menu>
  );
}

/** Theme, table density and, on narrow screens, the currency. */
function DisplayChoices() {
  const theme = themeChoice.use();
  const density = densityChoice.use();
  const currency = currencyChoice.use();
  return (
    <>
      <MenuRadioGroup
        label="Theme"
        value={theme}
        onChange={themeChoice.set}
        options={[
          { value: 'light', label: 'Light', icon: <Sun aria-hidden /> },
          { value: 'dark', label: 'Dark', icon: <Moon aria-hidden /> },
          { value: 'system', label: 'System', icon: <Monitor aria-hidden /> },
        ]}
      />
      <MenuSeparator />
      <MenuRadioGroup
        label="Tables"
        value={density}
        onChange={densityChoice.set}
        options={[
          { value: 'comfortable', label: 'Comfortable', icon: <Rows3 aria-hidden /> },
          { value: 'compact', label: 'Compact', icon: <Rows4 aria-hidden /> },
        ]}
      />
      <div className="lg:hidden">
        <MenuSeparator />
        <MenuRadioGroup
          label="Currency"
          value={currency}
          onChange={currencyChoice.set}
          options={[
            { value: 'USD', label: 'US dollars' },
            { value: 'BGL', label: 'Credits (BGL)' },
          ]}
        />
      </div>
    </>
  );
}

function AccountButton({ user, ...rest }: ComponentProps<'button'> & { user: User }) {
  return (
    <button
      {...rest}
      type="button"
      className="shrink-0 rounded-full transition-shadow hover:shadow-[0_0_0_2px_var(--accent-line)]"
    >
      <Avatar user={user} />
      <span className="sr-only">Account: {user.username}</span>
    </button>
  );
}
