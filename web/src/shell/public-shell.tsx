import { Outlet } from '@tanstack/react-router';
import { isExpected, useSessionUser } from '../modules/accounts/session.ts';
import { Shell } from './shell.tsx';

/** Around the pages that anybody may see, signed in or not. Until that is known, it is whoever is expected. */
export function PublicShell() {
  const user = useSessionUser();
  return (
    <Shell user={user === undefined && !isExpected() ? null : user}>
      <Outlet />
    </Shell>
  );
}
