import { Outlet } from '@tanstack/react-router';
import { isProbablySignedIn, useSessionUser } from '../modules/accounts/session.ts';
import { Shell } from './shell.tsx';

/** Layout of pages for users and visitors. Until the session is known, shows the expected state. */
export function PublicShell() {
  const user = useSessionUser();
  return (
    <Shell user={user === undefined && !isProbablySignedIn() ? null : user}>
      <Outlet />
    </Shell>
  );
}
