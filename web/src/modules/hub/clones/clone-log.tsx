import { useQuery } from '@tanstack/react-query';
import { LogView } from '../../../ui/log-view.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { cloneLogsQuery } from './clone-calls.ts';

/** A clone's log, file by file. */
export function CloneLog({ id }: { id: string }) {
  return (
    <QueryView
      query={useQuery(cloneLogsQuery(id))}
      failed="The log could not be loaded"
      pending={<Skeleton className="h-80" />}
      compact
    >
      {({ files_copying_logs: logs }) => <LogView lines={logs.map((line) => ({ line }))} />}
    </QueryView>
  );
}
