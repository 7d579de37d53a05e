import type { GeneratorName } from '@bakehouse/contract/generators';
import { generators } from '@bakehouse/contract/generators/table';
import { Callout } from '../../ui/callout.tsx';
import { isServed } from './form/waits-for.ts';
import { ConnectLink } from './generate-bar.tsx';
import { useGeneratorPage } from './generator-context.ts';

/** Above a page of videos that nobody makes here: before anything is typed, and with the way to change that. */
export function NobodyServes() {
  const { name, ownOnly, serving } = useGeneratorPage();
  const { title, makes } = generators[name];
  const isKnown = serving.served.data !== undefined;
  if (makes !== 'video' || !isKnown || isServed(serving.by, ownOnly)) return null;
  return (
    <Callout tone="warn" title={`Nobody makes ${title} videos on this server yet`} className="mb-6">
      {serving.isBeingPrepared ? 'Its starter model is still being prepared.' : wayOut(name, ownOnly)}
      {serving.isConnectable && !ownOnly && !serving.isBeingPrepared && <ConnectLink />}
    </Callout>
  );
}

/** Wan is the one that a deployment makes. */
function wayOut(name: GeneratorName, ownOnly: boolean): string {
  if (name === 'wan')
    return `Deploy a Wan model${ownOnly ? '' : ', or ask an operator to connect a service'}.`;
  return ownOnly ? 'No model on this server makes them.' : 'An operator can connect a service that does.';
}
