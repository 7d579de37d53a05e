import { apiExamples, keyExample } from '../../../lib/api/examples/chat-examples.ts';
import { Card } from '../../../ui/card.tsx';
import { CodeBlock, CodeTabs } from '../../../ui/code-block.tsx';
import { maskKey } from './mask-key.ts';

/** Code samples with the web app's key. */
export function ExamplesCard({ apiKey, shown }: { apiKey: string; shown: boolean }) {
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
