import { useQuery } from '@tanstack/react-query';
import { Eye, EyeOff, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { getCredentials } from '../../lib/credentials.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { CodeBlock, CodeTabs } from '../../ui/code-block.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { notify } from '../../ui/notify.ts';
import { PageHeader } from '../../ui/page-header.tsx';
import { useRotateApiKey } from './api.ts';
import { apiExamples, keyExample } from './api-examples.ts';
import { sessionQuery } from './session.ts';

/** The one key of the account: show, copy, replace, and how to use it. */
export function ApiKeyPage() {
  // The session is read again after a change, in this tab and in others; the key comes with it.
  useQuery(sessionQuery);
  const apiKey = getCredentials()?.apiKey ?? '';
  const [shown, setShown] = useState(false);
  const [asking, setAsking] = useState(false);
  const rotate = useRotateApiKey();

  function replace() {
    rotate.mutate(undefined, {
      onSuccess: () => {
        setAsking(false);
        setShown(true);
        notify.success('The API key was replaced', { description: 'The old one no longer works.' });
      },
    });
  }

  return (
    <>
      <PageHeader
        title="API-Key"
        description="Your programs send this key. Anyone who has it can spend your credits."
      />
      <div className="grid grid-cols-1 gap-6">
        <Card>
          <div className="flex flex-wrap items-center gap-3">
            <output
              aria-label="API key"
              className="min-w-0 flex-1 basis-72 break-all rounded-lg bg-subtle px-3 py-2 font-mono text-[0.8125rem]"
            >
              {shown ? apiKey : mask(apiKey)}
            </output>
            <div className="flex flex-wrap gap-2">
              <Button onClick={() => setShown(!shown)} aria-pressed={shown}>
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
        </Card>
        <Card
          title="Use it"
          description="Chat calls use the OpenAI format, so any OpenAI client works. All other calls take the key in the X-API-KEY header."
        >
          <div className="flex flex-col gap-4">
            <div>
              <p className="mb-2">First, put the key into the environment of your shell or program.</p>
              <CodeBlock
                label="Setting the key"
                code={keyExample(shown ? apiKey : mask(apiKey))}
                copied={keyExample(apiKey)}
              />
            </div>
            <div>
              <p className="mb-2">Then call any model that is running.</p>
              <CodeTabs examples={apiExamples(location.origin)} />
            </div>
          </div>
        </Card>
      </div>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title="Replace the API key?"
        description="The old key stops working at once. Programs that use it need the new one; this browser is updated automatically."
        action="Replace"
        pending={rotate.isPending}
        onConfirm={replace}
      />
    </>
  );
}

function mask(key: string): string {
  return `${key.slice(0, 6)}${'•'.repeat(Math.max(0, key.length - 10))}${key.slice(-4)}`;
}
