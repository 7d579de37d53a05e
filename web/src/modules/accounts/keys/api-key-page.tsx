import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { getCredentials } from '../../../lib/api/credentials.ts';
import { PageHeader } from '../../../ui/page-header.tsx';
import { sessionQuery } from '../session.ts';
import { ExamplesCard } from './examples-card.tsx';
import { FurtherKeysCard } from './further-keys-card.tsx';
import { WebAppKeyCard } from './web-app-key-card.tsx';

/** The account's API keys: the web app's own, further ones, and how to use one. */
export function ApiKeyPage() {
  // Re-render when the session is refetched, because a key change in any tab causes a refetch.
  useQuery(sessionQuery);
  const apiKey = getCredentials()?.apiKey ?? '';
  const [shown, setShown] = useState(false);
  return (
    <>
      <PageHeader title="API-Key" description="Anyone who has a key can spend your credits." />
      <div className="grid grid-cols-1 gap-6">
        <WebAppKeyCard apiKey={apiKey} shown={shown} onShownChange={setShown} />
        <FurtherKeysCard />
        <ExamplesCard apiKey={apiKey} shown={shown} />
      </div>
    </>
  );
}
