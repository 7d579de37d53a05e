import { Outlet, useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useEffectEvent, useState } from 'react';
import { useCreatePanel } from '../lib/create-panel.ts';
import { getCredentials, setCredentials } from '../lib/credentials.ts';
import { followChanges } from '../lib/event-stream.ts';
import { queryClient } from '../lib/query-client.ts';
import { onSessionMessage, type SessionMessage } from '../lib/session-channel.ts';
import { refreshSession, sessionQuery, UserContext, useSessionUser } from '../modules/accounts/api.ts';
import { PreparationBanner } from '../modules/machine/preparation-banner.tsx';
import { Header } from './header.tsx';
import { OfflineBanner } from './offline-banner.tsx';
import { Sidebar } from './sidebar.tsx';
import { useShortcuts } from './use-shortcuts.ts';

const CommandPalette = lazy(() => import('./command-palette.tsx'));
const MobileMenu = lazy(() => import('./mobile-menu.tsx'));
const CreateDatasetSheet = lazy(async () => ({
  default: (await import('../modules/assets/create-dataset-sheet.tsx')).CreateDatasetSheet,
}));
const CreateModelSheet = lazy(async () => ({
  default: (await import('../modules/training/create-model-sheet.tsx')).CreateModelSheet,
}));

/** Around every page that needs a session; empty in the moment between a sign-out and the landing page. */
export function AppShell() {
  useSessionMessages();
  const user = useSessionUser();
  return (
    user && (
      <UserContext value={user}>
        <Shell userId={user.id} />
      </UserContext>
    )
  );
}

/** Header, sidebar, banners and side sheets. */
function Shell({ userId }: { userId: string }) {
  const { pathname } = useLocation();
  const [menuOpen, setMenuOpen] = useState(false);
  const [paletteOpen, setPaletteOpen] = useState(false);
  const sidebarHidden = /\/(dataset|market|model)$/.test(pathname);
  useShortcuts({ onPalette: () => setPaletteOpen(true) });
  useChanges(userId);

  return (
    <>
      <a
        href="#main"
        className="fixed top-2 left-2 z-60 -translate-y-16 rounded-lg bg-ink px-3 py-2 font-medium text-canvas focus:translate-y-0"
      >
        Skip to main content
      </a>
      <Header
        onOpenMenu={() => setMenuOpen(true)}
        onOpenPalette={() => setPaletteOpen(true)}
        menuAlways={sidebarHidden}
      />
      <div className="flex">
        {!sidebarHidden && (
          <aside className="sticky top-14 h-[calc(100dvh-3.5rem)] w-60 shrink-0 overflow-y-auto border-line border-r px-3 py-5 max-xl:hidden">
            <Sidebar />
          </aside>
        )}
        <div className="min-w-0 flex-1">
          <OfflineBanner />
          <PreparationBanner />
          <main
            id="main"
            tabIndex={-1}
            className="mx-auto w-full max-w-6xl px-4 pt-6 pb-16 outline-none sm:px-8 sm:pt-8"
          >
            <Outlet />
          </main>
        </div>
      </div>
      <Suspense>
        <CreateSheets />
        {menuOpen && <MobileMenu onClose={() => setMenuOpen(false)} />}
        {paletteOpen && <CommandPalette onClose={() => setPaletteOpen(false)} />}
      </Suspense>
    </>
  );
}

/** Keeps what is shown true while the same person is signed in. */
function useChanges(userId: string): void {
  useEffect(() => {
    const ended = new AbortController();
    void followChanges(userId, ended.signal);
    return () => ended.abort();
  }, [userId]);
}

/** The sheets that the URL opens. Each stays mounted after its first opening, to slide out. */
function CreateSheets() {
  const { create, dataset, dataFile, baseModel, modelType } = useSearch({ from: '/app' });
  const openPanel = useCreatePanel();
  const [seen, setSeen] = useState({ dataset: false, model: false });
  if (create && !seen[create]) setSeen({ ...seen, [create]: true });
  const close = () => openPanel({});
  return (
    <>
      {seen.dataset && <CreateDatasetSheet open={create === 'dataset'} onClose={close} />}
      {seen.model && (
        <CreateModelSheet
          open={create === 'model'}
          onClose={close}
          dataset={dataset}
          dataFile={dataFile}
          baseModel={baseModel}
          modelType={modelType}
        />
      )}
    </>
  );
}

/** Follows what this tab and others learn about the session: a refused key, a new one, a sign-out. */
function useSessionMessages(): void {
  const navigate = useNavigate();

  const leave = useEffectEvent(async () => {
    setCredentials(null);
    queryClient.setQueryData(sessionQuery.queryKey, null);
    await navigate({ to: '/', replace: true });
    queryClient.removeQueries({ predicate: (query) => query.queryKey[0] !== 'session' });
  });

  const follow = useEffectEvent(async ({ type, userId }: SessionMessage) => {
    const isMine = userId === getCredentials()?.userId;
    if (type === 'signed-out') return leave();
    if (type === 'signed-in' ? isMine : !isMine) return;
    const user = await refreshSession().catch(() => undefined);
    if (user === null) await leave();
  });

  useEffect(() => onSessionMessage((message) => void follow(message)), []);
}
