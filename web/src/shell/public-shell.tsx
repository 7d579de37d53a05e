import { Outlet } from '@tanstack/react-router';
import { useSessionUser } from '../modules/accounts/api.ts';
import { Shell } from './shell.tsx';

/** Around the pages that anybody may see, signed in or not. */
export function PublicShell() {
  return (
    <Shell user={useSessionUser()}>
      <Outlet />
    </Shell>
  );
}
