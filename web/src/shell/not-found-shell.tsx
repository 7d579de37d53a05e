import { useSessionUser } from '../modules/accounts/session.ts';
import { Shell } from './shell.tsx';
import { NotFoundPage } from './states/not-found-page.tsx';

/** For URLs that no route can decode, such as '/runs/%zz'. */
export function NotFoundShell() {
  return (
    <Shell user={useSessionUser()}>
      <NotFoundPage />
    </Shell>
  );
}
