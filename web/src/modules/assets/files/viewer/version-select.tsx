import { formatBytes } from '@bakehouse/contract/labels';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Button } from '../../../../ui/button.tsx';
import { RelativeTime } from '../../../../ui/relative-time.tsx';
import { Select } from '../../../../ui/select.tsx';
import { versionsQuery } from './viewer-calls.ts';

type Props = {
  assetId: string;
  path: string;
  /** The asset's newest revision. */
  newest: string;
  /** The one in sight, if it is not the newest. */
  value: string | undefined;
  onChange: (revisionId: string | undefined) => void;
};

/** Which revision of a file is looked at; nothing where there has only been one. */
export function VersionSelect({ assetId, path, newest, value, onChange }: Props) {
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    versionsQuery({ assetId, path, newest }),
  );
  const versions = data?.pages.flatMap((page) => page.versions) ?? [];
  const [last] = versions;
  if (!last || (versions.length === 1 && value === undefined)) return null;
  return (
    <>
      <Select
        aria-label="Revision"
        size="sm"
        className="min-w-44"
        value={value ?? last.revision_id}
        onChange={(id) => onChange(id === last.revision_id ? undefined : id)}
        options={versions.map(({ revision_id: id, number, created_at: at, size_bytes: size }) => ({
          value: id,
          label: id === last.revision_id ? `Revision ${number} (newest)` : `Revision ${number}`,
          description: (
            <>
              <RelativeTime at={at} />, {formatBytes(size)}
            </>
          ),
        }))}
      />
      {hasNextPage && (
        <Button
          size="sm"
          variant="ghost"
          loading={isFetchingNextPage}
          onClick={() => void fetchNextPage({ cancelRefetch: false })}
        >
          Load older revisions
        </Button>
      )}
    </>
  );
}
