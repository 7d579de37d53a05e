import { useSessionUser } from '../modules/accounts/session.ts';
import { Shell } from './shell.tsx';
import { NotFoundPage } from './states/not-found-page.tsx';

/** For an address that no route can read, as '/runs/%zz': it is a page of nobody's, and has the shell around it all the same. */
export function NotFoundShell() {
  return (
    <Shell user={useSessionUser()}>
      <NotFoundPage />
    </Shell>
  );
}
