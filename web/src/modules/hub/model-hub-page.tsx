import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { type SearchOf, useUrlSearch } from '../../lib/url-search.ts';
import { Button } from '../../ui/button.tsx';
import { ResourcePage } from '../../ui/resource/resource-page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { ClonesList } from './clones/clones-list.tsx';
import { HubSearch } from './hub-search.tsx';
import { RepositoryDialog } from './repository/repository-dialog.tsx';
import { TokenDialog } from './repository/token-dialog.tsx';
import type { modelHubSearch } from './routes.ts';

/** The public hub: search, view and clone models and datasets. */
export function ModelHubPage() {
  const [{ tab = 'search', type = 'model', repo }, change] = useUrlSearch<SearchOf<typeof modelHubSearch>>();
  const [savesToken, setSavesToken] = useState(false);
  return (
    <ResourcePage
      title="Model hub"
      description="Clone models and datasets from Hugging Face."
      actions={
        <Button onClick={() => setSavesToken(true)}>
          <KeyRound aria-hidden />
          Access token
        </Button>
      }
    >
      <Tabs
        value={tab}
        onChange={(next) => change({ tab: next === 'clones' ? next : undefined, repo: undefined })}
        tabs={[
          { value: 'search', label: 'Search', content: <HubSearch /> },
          { value: 'clones', label: 'Clones', content: <ClonesList /> },
        ]}
      />
      {repo && (
        <RepositoryDialog
          key={repo}
          type={type}
          id={repo}
          onClose={() => change({ repo: undefined })}
          onCloning={() => change({ tab: 'clones', repo: undefined })}
        />
      )}
      {savesToken && <TokenDialog onClose={() => setSavesToken(false)} />}
    </ResourcePage>
  );
}
