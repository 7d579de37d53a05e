import { getRouteApi } from '@tanstack/react-router';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { ClonesList } from './clones/clones-list.tsx';
import { HubSearch } from './hub-search.tsx';
import type { ModelHubSearch } from './model-hub-search.ts';
import { RepositoryDialog } from './repository/repository-dialog.tsx';
import { TokenDialog } from './repository/token-dialog.tsx';

const route = getRouteApi('/app/model-hub');

/** The public hub: search, view and clone models and datasets. */
export function ModelHubPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [savesToken, setSavesToken] = useState(false);
  const go = (next: ModelHubSearch, replace = true) => void navigate({ search: next, replace });
  const { repo, ...withoutRepo } = search;
  return (
    <>
      <PageHeader
        title="Model hub"
        description="Clone models and datasets from the public hub."
        actions={
          <Button onClick={() => setSavesToken(true)}>
            <KeyRound aria-hidden />
            Access token
          </Button>
        }
      />
      <Tabs
        value={search.tab ?? 'search'}
        onChange={(tab) => {
          const { tab: _, ...rest } = withoutRepo;
          go(tab === 'clones' ? { ...rest, tab } : rest);
        }}
        tabs={[
          {
            value: 'search',
            label: 'Search',
            content: (
              <HubSearch
                filter={withoutRepo}
                // The debounced search may fire after a result was opened.
                onFilter={(filter) => go({ ...filter, ...(repo !== undefined && { repo }) })}
              />
            ),
          },
          { value: 'clones', label: 'Clones', content: <ClonesList /> },
        ]}
      />
      {repo && (
        <RepositoryDialog
          key={repo}
          type={search.type ?? 'model'}
          id={repo}
          onClose={() => go(withoutRepo)}
          onCloning={() => go({ ...withoutRepo, tab: 'clones' })}
        />
      )}
      {savesToken && <TokenDialog onClose={() => setSavesToken(false)} />}
    </>
  );
}
