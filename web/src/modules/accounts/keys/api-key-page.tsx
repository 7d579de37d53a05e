import { useQuery } from '@tanstack/react-query';
import { Eye, EyeOff, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { getCredentials } from '../../../lib/api/credentials.ts';
import { apiExamples, keyExample } from '../../../lib/api/examples/chat-examples.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { CodeBlock, CodeTabs } from '../../../ui/code-block.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { notify } from '../../../ui/notify.ts';
import { PageHeader } from '../../../ui/page-header.tsx';
import { sessionQuery } from '../session.ts';
import { FurtherKeysCard } from './further-keys.tsx';
import { maskKey, useRotateApiKey } from './key-calls.ts';

/** The account's API keys: the web app's own, further ones, and how to use one. */
export function ApiKeyPage() {
  // Subscribes to the session: after a change in any tab it is read again and brings the key.
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

/** Code samples with the web app's key. */
function ExamplesCard({ apiKey, shown }: { apiKey: string; shown: boolean }) {
  return (
    <Card
      title="Use it"
      description="Any OpenAI client works. Other calls take the key in the X-API-KEY header."
    >
      <div className="flex flex-col gap-4">
        <div>
          <p className="mb-2">
            First, put a key into your environment. This is the web app key; a key made for the program is
            safer.
          </p>
          <CodeBlock
            label="Setting the key"
            code={keyExample(shown ? apiKey : maskKey(apiKey))}
            copied={keyExample(apiKey)}
          />
        </div>
        <div>
          <p className="mb-2">Then call any model that is running.</p>
          <CodeTabs examples={apiExamples(location.origin)} />
        </div>
      </div>
    </Card>
  );
}

type Props = {
  apiKey: string;
  /** In full. */
  shown: boolean;
  onShownChange: (shown: boolean) => void;
};

/** The key that the web app itself sends: show, copy, replace. */
function WebAppKeyCard({ apiKey, shown, onShownChange }: Props) {
  const [asking, setAsking] = useState(false);
  const rotate = useRotateApiKey();

  function replace() {
    rotate.mutate(undefined, {
      onSuccess: () => {
        setAsking(false);
        onShownChange(true);
        notify.success('The API key was replaced', { description: 'The old one no longer works.' });
      },
    });
  }

  return (
    <Card title="Web app key" description="Used by this browser. Has full access and does not expire.">
      <div className="flex flex-wrap items-center gap-3">
        <output
          aria-label="API key"
          className="min-w-0 flex-1 basis-72 break-all rounded-lg bg-subtle px-3 py-2 font-mono text-[0.8125rem]"
        >
          {shown ? apiKey : maskKey(apiKey)}
        </output>
        <div className="flex flex-wrap gap-2">
          <Button onClick={() => onShownChange(!shown)} aria-pressed={shown}>
            {shown ? <EyeOff aria-hidden /> : <Eye aria-hidden />}
            {shown ? 'Hide' : 'Show'}
          </Button>
          <CopyButton text={apiKey} label="Copy" withText />
          <Button onClick={() => setAsking(true)}>
            <RotateCw aria-hidden />
            Replace
          </Button>
        </div>
      </div>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title="Replace the API key?"
        description="The old key stops working immediately. This browser switches to the new one."
        action="Replace"
        pending={rotate.isPending}
        onConfirm={replace}
      />
    </Card>
  );
}
