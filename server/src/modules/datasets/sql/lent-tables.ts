/** The files of tables, in one folder. */
export type LentTables = {
  folder: string;
  /** Time limit of the query. */
  seconds: number;
  /** The files of each table: their names in the folder, and their paths in the dataset. */
  tables: { name: string; files: { as: string; path: string }[] }[];
};
