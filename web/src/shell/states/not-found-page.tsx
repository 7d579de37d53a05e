import { useParams } from '@tanstack/react-router';
import { RepositoryPage } from '../../modules/datasets/repository/repository-page.tsx';
import { Missing } from '../../ui/missing.tsx';

/**
 * Handles all unknown paths, including repository names of datasets and models; separate routes would enlarge
 * the first screen.
 */
export function NotFoundPage() {
  const { _splat: address = '' } = useParams({ strict: false });
  const [, type, path = ''] = /^(datasets|models)\/(.+)$/.exec(address) ?? [];
  if (type !== undefined) return <RepositoryPage type={type as 'datasets' | 'models'} path={path} />;
  return (
    <Missing
      title="Page not found"
      text="The address may be mistyped, or the page may have been deleted."
      to="/dashboard"
      label="Go to the dashboard"
    />
  );
}
