/** Types of the original product's client, which has none of its own. */
declare module 'bagelml' {
  export class Settings {
    constructor(options: Record<string, unknown>);
    get(name: string): unknown;
  }
  export class Client {
    constructor(settings: Settings);
    create_asset(payload: object, apiKey: string): Promise<void>;
    get_asset_by_Id(id: string, apiKey: string): Promise<void>;
    get_all_assets(userId: string, apiKey: string): Promise<void>;
    update_asset(id: string, payload: object, apiKey: string): Promise<unknown>;
    delete_asset(id: string, apiKey: string): Promise<void>;
    add_file(id: string, filePath: string, apiKey: string): Promise<void>;
    query_asset(id: string, payload: object, apiKey: string): Promise<unknown>;
    get_user_details(userId: string, apiKey: string): Promise<void>;
    create_api_key(name: string, userId: string, apiKey?: string): Promise<unknown>;
    like_dataset(id: string, userId: string, action: string, apiKey: string): Promise<unknown>;
    fine_tune(payload: object, apiKey: string): Promise<unknown>;
    list_jobs(userId: string, apiKey: string): Promise<unknown>;
    get_job(jobId: string, apiKey: string): Promise<unknown>;
    get_job_by_asset(id: string, apiKey: string): Promise<unknown>;
    list_model_files(id: string, apiKey: string): Promise<unknown>;
    download_model_file(id: string, fileName: string, apiKey: string): Promise<Blob>;
    download_model_files(jobId: string, fileName: string, apiKey: string): Promise<unknown>;
  }
}
