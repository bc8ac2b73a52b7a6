// Generated from docs/openapi.json by `npm run schema`; do not edit.

export interface paths {
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns that the process is alive. */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Returns whether the server can do its work, with the condition of each component.
         * @description A store that fails makes the server unready. Without a model or a vector index memories are found by words, and
         *     without what several servers share each goes on alone: the server is ready and says `degraded`.
         *
         *     The answer may be one second old. Names, versions and messages are for admins: without the credential of one, each
         *     component has only its status and latency.
         */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/backups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the backups of the caller's tenant, newest first. */
        get: operations["listBackups"];
        put?: never;
        /**
         * Makes a full backup in the folder of the server, while others write.
         * @description The result of the task is the backup. An admin of the tenant `default` backs up all tenants; other admins their own.
         */
        post: operations["createBackup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/backups/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Downloads a backup. */
        get: operations["downloadBackup"];
        put?: never;
        post?: never;
        /** Removes a backup. */
        delete: operations["deleteBackup"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/backups/{name}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restores a backup.
         * @description The backup is verified before anything is changed; each space comes back in one transaction. An admin of a tenant
         *     restores that tenant alone. Keys that exist stay as they are, and a pool keeps its present members.
         */
        post: operations["restoreBackup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/backups/{name}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verifies a backup from the first byte to the last.
         * @description The result of the task is the summary of the backup: its spaces, its number of rows and its digest.
         */
        post: operations["verifyBackup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/erasures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Erases everything of a user, or counts what would be erased.
         * @description By default nothing is erased: the counts are answered at once. With `dryRun: false` a task erases the memories of all
         *     scopes of the user and those in other layers that name them, with vectors, links, sessions, facts, checkpoints,
         *     entities, jobs, working memory, and what the ledger says of them. The task can be cancelled; what was erased until
         *     then is gone, and a further erasure removes the rest. `notReached` in the result says what no erasure can reach.
         */
        post: operations["eraseUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/reembeddings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Computes the vectors of the present model that memories of the tenant do not have.
         * @description Vectors of several models stand side by side meanwhile. The task can be cancelled at any time; the next one goes on
         *     where it was. With `dryRun` the number of vectors and tokens is answered at once.
         */
        post: operations["reembedMemories"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the tasks of the tenant, newest first.
         * @description A server keeps its last 1,000 tasks until it restarts.
         */
        get: operations["listTasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads a task. */
        get: operations["getTask"];
        put?: never;
        post?: never;
        /**
         * Cancels a task.
         * @description The task ends as `cancelled` a little later. One that has ended stays as it is; one that cannot stop without harm
         *     (a restore, the removal of a tenant) is refused with 409.
         */
        delete: operations["cancelTask"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tasks/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follows a task as server-sent events until it ends.
         * @description Each event is called `task` and carries the whole task as its data. The stream ends after the event in which the
         *     task has ended.
         */
        get: operations["followTask"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tenants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the tenants that the caller looks after, by name.
         * @description An admin of the tenant `default` sees all tenants, other admins their own.
         */
        get: operations["listTenants"];
        put?: never;
        /**
         * Creates a tenant with its first key.
         * @description Only an admin of the tenant `default` may. The answer holds the secret of the key, which is shown this once.
         */
        post: operations["createTenant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tenants/{tenant}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads what a tenant uses. */
        get: operations["getTenant"];
        put?: never;
        post?: never;
        /**
         * Removes a tenant with all its data, keys, agents, pools and backups on this server.
         * @description Only an admin of the tenant `default` may, and must repeat the name of the tenant in `confirm`. Only a backup can
         *     undo it. The task cannot be cancelled; one that was interrupted is finished by removing the tenant again.
         */
        delete: operations["deleteTenant"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists what tenants use, by name.
         * @description An admin of the tenant `default` sees all tenants, other admins their own.
         */
        get: operations["listUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists agents, by id. */
        get: operations["listAgents"];
        put?: never;
        /** Registers an agent, or replaces the settings of a registered one. */
        post: operations["createAgent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads an agent. */
        get: operations["getAgent"];
        put?: never;
        post?: never;
        /** Removes an agent with everything in its memory. */
        delete: operations["deleteAgent"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads the settings in force, without secrets. Only for admins of the default tenant. */
        get: operations["getConfig"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/consents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists proposals that wait for a decision, oldest first. */
        get: operations["listConsents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/consents/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads a proposal that waits for a decision. */
        get: operations["getConsent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/consents/{id}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Accepts a proposal: its memory becomes active. */
        post: operations["acceptConsent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/consents/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Rejects a proposal: its memory is deleted. */
        post: operations["rejectConsent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists entities, those mentioned most first, or those that fit a description. */
        get: operations["listEntities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/{entity}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads an entity and the newest memories that mention it, at most 20. */
        get: operations["getEntity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/{entity}/merge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Merges another entity into this one: both are one entity from now on. */
        post: operations["mergeEntities"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/{entity}/split": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Undoes a merge: the other entity is separate again. */
        post: operations["splitEntity"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follows changes of memories that the caller may see, as server-sent events.
         * @description Each event has the place to resume from as its `id`, its name as `event`, such as `ADD`, and an entry of the ledger
         *     as `data`, whose `event` is the same name.
         */
        get: operations["followEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Exports everything that the caller may see, as lines of JSON.
         * @description An admin without bounds who names a user, an agent or both gets everything that has their ids, in any layer; others
         *     get the scopes that their identifiers open.
         */
        get: operations["exportMemories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/facts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists facts, the most certain first. */
        get: operations["listFacts"];
        put?: never;
        /**
         * States a fact.
         * @description A fact that is stated again stays one: the greater confidence is kept, metadata and sources are added.
         */
        post: operations["stateFact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/facts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads a fact. */
        get: operations["getFact"];
        put?: never;
        post?: never;
        /** Retracts a fact. The memories that it was learned from stay. */
        delete: operations["retractFact"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Imports a file of Loci or of another system.
         * @description The body is a stream and may be larger than other bodies. Lines of Loci (`application/x-ndjson`) are read one by one:
         *     the first line that cannot be read ends the import, and the lines before it are kept. Entries of other formats that
         *     cannot be read or kept are counted and passed over; of these formats a body may have `server.import_bytes`. Memories
         *     that do not say whose they are belong to the identifiers of the request. The same file may be sent again: what is
         *     known changes nothing.
         */
        post: operations["importMemories"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists background jobs, oldest first. */
        get: operations["listJobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Runs waiting jobs now and answers when they are done. Missing vectors are computed first. */
        post: operations["runJobs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{space}/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Removes a job without running it. */
        delete: operations["deleteJob"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{space}/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Queues a job again, to be run at once. */
        post: operations["retryJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the keys of the tenant, oldest first, including expired and revoked ones. */
        get: operations["listKeys"];
        put?: never;
        /**
         * Makes a key. `data.secret` cannot be read again.
         * @description With the first key the server is closed: every request needs a credential from then on.
         */
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads a key, without its secret. */
        get: operations["getKey"];
        put?: never;
        post?: never;
        /** Revokes a key. It stays in the list. */
        delete: operations["revokeKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes a key with the same permissions, and revokes the old one when the grace period is over. */
        post: operations["rotateKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ledger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists changes of memories that the caller may see, oldest first.
         * @description `after` is the place to start from: `cursor` of an entry, or `all` for the first, which is the default.
         */
        get: operations["listLedger"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ledger/{space}/{sequence}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Undoes the change that one ledger entry records. */
        post: operations["undoChange"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/maintenance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Runs maintenance, or returns the plan with `dryRun`. */
        post: operations["runMaintenance"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists memories that match the filter, newest first. */
        get: operations["listMemories"];
        put?: never;
        /**
         * Adds a memory.
         * @description It is compared with what its scope knows: a memory that is known already is not added again, and one that replaces
         *     an older memory supersedes it, unless `asIs` is set. The memory is durable when the response is sent, unless
         *     `durability` is `batched`: then it has been checked and has its id, but is written, and compared with what is known,
         *     at most a second later.
         */
        post: operations["addMemory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Adds up to 500 memories, one after the other, each in a transaction of its own. */
        post: operations["addMemories"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Counts memories that match the filter. */
        get: operations["countMemories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Deletes all memories that match a filter, softly: they can be restored until they are purged. */
        post: operations["deleteMemories"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/flush": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Waits until every memory that was accepted before is durable.
         * @description Fails with the first reason why a memory could not be written since the same credential last called this;
         *     `details.ids` lists those memories. After a temporary failure they stay queued and are tried again.
         */
        post: operations["flushMemories"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Searches each layer by similarity.
         * @description Of memories that say the same in several layers, only the one of the most specific layer is returned.
         */
        post: operations["searchMemories"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/update": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Changes all memories that match a filter, each in the same way. */
        post: operations["updateMemories"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/weak": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists memories with low confidence, the weakest first: those that someone should check before they are removed. */
        get: operations["listWeakMemories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads a memory.
         * @description A soft-deleted memory is returned with its state until it is purged. The `ETag` is its version.
         */
        get: operations["getMemory"];
        put?: never;
        post?: never;
        /** Deletes a memory softly: it is hidden at once and can be restored until it is purged. */
        delete: operations["deleteMemory"];
        options?: never;
        head?: never;
        /** Changes fields of a memory. */
        patch: operations["changeMemory"];
        trace?: never;
    };
    "/v1/memories/{id}/chain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists all versions of what a memory says, oldest first.
         * @description The last entry of the last page is the version that holds now; the header `Link` with `rel="latest-version"` names
         *     it on every page.
         */
        get: operations["listMemoryChain"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{id}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Confirms a memory: its confidence becomes 1 and no longer decays. */
        post: operations["confirmMemory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{id}/correct": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Replaces a memory that was wrong. The new one has confidence 1. */
        post: operations["correctMemory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{id}/edges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the links from and to a memory, oldest first. */
        get: operations["listMemoryEdges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{id}/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads the memories around a memory and the links between them, at most 200 memories. */
        get: operations["getMemoryGraph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the ledger entries of a memory, oldest first. */
        get: operations["listMemoryHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{id}/provenance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads where a memory comes from: its sources, versions, entities, links and history. */
        get: operations["getMemoryProvenance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resolves a contradiction between two memories.
         * @description A memory that does not hold stays readable in the chain of the other.
         */
        post: operations["resolveMemory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Restores a soft-deleted memory. */
        post: operations["restoreMemory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{id}/supersede": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replaces a memory by a newer one. The old one stays readable in the chain.
         * @description Kind, category, tags, importance, access policy and pinning are taken from the old memory where they are left out.
         */
        post: operations["supersedeMemory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Counts changes over time, by event and by the part of Loci that made them. */
        get: operations["countOperations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the pools of the agent, by id; an admin who names no agent sees all. */
        get: operations["listPools"];
        put?: never;
        /** Makes a pool with its first members. A pool that exists is a conflict. */
        post: operations["createPool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pools/{poolId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads a pool with its members. */
        get: operations["getPool"];
        put?: never;
        post?: never;
        /** Removes a pool with everything in it. */
        delete: operations["deletePool"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pools/{poolId}/contributions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Contributes a memory to a pool.
         * @description A copy keeps a reference to the memory that it was made of. When that memory has changed since it was last
         *     contributed, the new copy supersedes the old one.
         */
        post: operations["contributeToPool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pools/{poolId}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the members of a pool, by id. */
        get: operations["listPoolMembers"];
        put?: never;
        /** Adds agents to a pool. `event` is `NONE` if all were members already. */
        post: operations["addPoolMembers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pools/{poolId}/members/{agentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Removes an agent from a pool: an admin any, an agent itself.
         * @description What it contributed stays in the pool; what it has synced stays with the agent.
         */
        delete: operations["removePoolMember"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pools/{poolId}/sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Copies what the agent does not have yet of a pool into its own memory, about the user in the identifiers.
         * @description Sent again, it copies only what is new or has changed.
         */
        post: operations["syncPool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/recall": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Finds the memories that answer a question.
         * @description Searches by words, vectors, links and times are combined; the best results come first. With `pack` the answer also
         *     has a text for a prompt, with `window` the messages of a whole model call. With `identifiers.poolId` and
         *     `filter.layer: ["pool"]` only the pool is searched.
         */
        post: operations["recall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/recall/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answers up to 20 questions in one call.
         * @description A question that fails has a `problem` in its place. If all of them fail, the call fails like the first of them.
         */
        post: operations["recallBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists sessions, those quiet longest first. */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sessionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads a session.
         * @description A session may have turns in several layers; the one with the latest turn is returned.
         */
        get: operations["getSession"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sessionId}/end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ends a session and queues the learning from it.
         * @description Important entries of the session are stored as memories of the user. `event` is `NONE` if the session had ended
         *     already. `data` is null if the session had entries only.
         */
        post: operations["endSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sessionId}/entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the entries of a session, newest first, or those that match a query, best first. */
        get: operations["listEntries"];
        put?: never;
        /**
         * Puts an entry into a session. An entry with the same id is replaced.
         * @description It lives as long as the session: an hour after the latest entry unless that is set otherwise. Important entries
         *     are stored as memories of the user when the session ends.
         */
        post: operations["putEntry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sessionId}/entries/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads an entry of a session. */
        get: operations["getEntry"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sessionId}/learn": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Learns from a session: queued, or with `wait` before the answer.
         * @description What is known already is not added twice. If a request with `wait` takes longer than `server.request_seconds`, it
         *     fails; what was learned until then is kept, and the same request continues.
         */
        post: operations["learnSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sessionId}/turns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ingests turns of a session.
         * @description All turns are checked before the first is stored. No language model is called; facts are learned later, when the
         *     session ends.
         */
        post: operations["ingestTurns"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Counts what the caller may see. */
        get: operations["getStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/summaries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Summarizes a session, or memories.
         * @description The summary is returned and not stored. Without a language model the sentences that say most are chosen.
         */
        post: operations["summarize"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists threads that have checkpoints, those with the newest checkpoint first. */
        get: operations["listThreads"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{threadId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads the newest checkpoint of a thread, with its pending writes. */
        get: operations["getNewestCheckpoint"];
        put?: never;
        post?: never;
        /** Removes a thread with all its checkpoints, for good. */
        delete: operations["deleteThread"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{threadId}/checkpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the checkpoints of a thread, newest first. */
        get: operations["listCheckpoints"];
        put?: never;
        /**
         * Stores a checkpoint of a thread. The same checkpoint again changes nothing.
         * @description `data` of the answer is the checkpoint without its own data.
         */
        post: operations["putCheckpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{threadId}/checkpoints/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads a checkpoint, with its pending writes. */
        get: operations["getCheckpoint"];
        put?: never;
        post?: never;
        /** Removes a checkpoint with its pending writes, for good. */
        delete: operations["deleteCheckpoint"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{threadId}/checkpoints/{id}/writes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stores pending writes of tasks beside an existing checkpoint. */
        post: operations["putWrites"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{threadId}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists a checkpoint of a thread, the one it came from, and so on to the first. */
        get: operations["listThreadHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{threadId}/prune": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Removes all but the newest checkpoints of each namespace of a thread, for good. */
        post: operations["pruneThread"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/turns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ingests turns without naming a session: each thread is a session of its own.
         * @description `identifiers.sessionId` may still name one. Otherwise this is the same as ingesting turns of a session.
         */
        post: operations["ingestThreadTurns"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the webhooks that the caller's key has created, oldest first; admins see all of their tenant. */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Creates a webhook.
         * @description From now on events that the creator's key may see are sent as POSTs of `{"id", "webhookId", "events"}`, signed in the
         *     header `Loci-Signature`. A delivery that is not answered with a success is tried again after 1 second to 5 minutes.
         *     The secret is shown this once.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads a webhook, and how its deliveries stand. */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /** Removes a webhook. A delivery that is under way may still arrive. */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resumes a webhook that is paused or waits after a failure, from where it was. */
        post: operations["resumeWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/whoami": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the current credential and its permissions. */
        get: operations["whoami"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/working": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads working memory. */
        get: operations["getWorking"];
        put?: never;
        post?: never;
        /** Empties working memory, also in the tier. Messages that were not kept as turns are lost. */
        delete: operations["clearWorking"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/working/flush": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Keeps all messages as turns of their conversation now. */
        post: operations["flushWorking"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/working/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Appends a message.
         * @description When the messages have more tokens than `working.flush_tokens`, they are kept as turns of their conversation
         *     before the answer is sent; if that fails they stay, and `degraded` says so.
         */
        post: operations["appendMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/working/scratchpad": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Sets the scratchpad. */
        put: operations["setScratchpad"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/working/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Searches working memory, best results first.
         * @description Entries that have a vector are compared by it, the others by the words that they share with the query.
         */
        post: operations["searchWorking"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/working/tool-results": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Puts in the result of a tool. A second result of the same call replaces the first. */
        post: operations["putToolResult"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description Which callers within the scope of a memory may see it.
         * @enum {string}
         */
        AccessPolicy: "private" | "restricted" | "shared" | "organization" | "public";
        /** @description Agents that become members. */
        AddMembers: {
            /** @description The ids of the agents. */
            agentIds: string[];
        };
        /** @description An agent of a tenant. */
        Agent: {
            /** @description The id of the agent, a URL-safe name. Called `slug` in exports of format 1. */
            agentId: string;
            /**
             * Format: date-time
             * @description When it was registered.
             */
            createdAt: string;
            /** @description Its own settings: weights, limit, threshold, categories. Called `config` in exports of format 1. */
            settings: unknown;
        };
        /** @description One page of a list. */
        AgentPage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["Agent"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description The settings of an agent; the engine reads and checks them. */
        AgentSettings: {
            /** @description The categories that the agent may see; null: all. */
            categories?: string[] | null;
            /** @description Number of results of a recall that gives no limit. */
            limit?: number | null;
            /**
             * Format: double
             * @description Cosine similarity below which a vector match does not count.
             */
            threshold?: number | null;
            weights?: components["schemas"]["Weights"] | null;
        };
        /** @description The answer to a write. */
        AgentWrite: {
            /** @description The resource after the write; null if the caller may not see it or asked for `return=minimal`. */
            data: components["schemas"]["Agent"] | null;
            /** @description Parts of the work that could not be done now, for example `vector`. */
            degraded: string[];
            /** @description Memories only: how durable the write is. */
            durability?: components["schemas"]["Durability"];
            /** @description Memories only: whether a vector was computed for a new memory. */
            embeddingGenerated?: boolean;
            /** @description Memories only: whether a new vector was computed because the text changed. */
            embeddingRegenerated?: boolean;
            /** @description What the write did. */
            event: components["schemas"]["Outcome"];
            /** @description The id of the resource. */
            id: string;
            /** @description The names of the patterns that were masked before anything was stored. */
            redacted: string[];
            /**
             * Format: int64
             * @description The version of the resource after the write; null if it has none.
             */
            version: number | null;
        };
        /**
         * @description Whether the results answer a query.
         * @enum {string}
         */
        Answered: "yes" | "unsure" | "no";
        /** @description A key as it is shown: without its hash. */
        ApiKey: {
            /** @description Whether it is accepted now: neither expired nor revoked. */
            active: boolean;
            /** @description The identifiers that the caller may use. */
            bounds?: components["schemas"]["Bounds"];
            /** @description The categories that the caller may see. Absent: all categories. */
            categories?: string[];
            /**
             * Format: date-time
             * @description When it was made.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it expires; null: never.
             */
            expiresAt: string | null;
            /** @description The id, which is the public part of the key. */
            id: string;
            /** @description What the key is for. */
            name: string;
            /**
             * Format: date-time
             * @description From when on it is refused; null: it is not revoked.
             */
            revokedAt: string | null;
            /** @description What the caller may do besides what the role allows. An admin has all rights without naming them. */
            rights?: components["schemas"]["Right"][];
            /** @description The role of the caller. */
            role: components["schemas"]["Role"];
            /** @description The tenant that the credential belongs to. */
            tenant: string;
        };
        /** @description One page of a list. */
        ApiKeyPage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["ApiKey"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description A key that was just made, as it is shown this once. */
        ApiKeyWithSecret: {
            /** @description Whether it is accepted now: neither expired nor revoked. */
            active: boolean;
            /** @description The identifiers that the caller may use. */
            bounds?: components["schemas"]["Bounds"];
            /** @description The categories that the caller may see. Absent: all categories. */
            categories?: string[];
            /**
             * Format: date-time
             * @description When it was made.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it expires; null: never.
             */
            expiresAt: string | null;
            /** @description The id, which is the public part of the key. */
            id: string;
            /** @description What the key is for. */
            name: string;
            /** @description With the first key of the store: that requests without a credential are refused from now on. */
            note?: string;
            /**
             * Format: date-time
             * @description From when on it is refused; null: it is not revoked.
             */
            revokedAt: string | null;
            /** @description What the caller may do besides what the role allows. An admin has all rights without naming them. */
            rights?: components["schemas"]["Right"][];
            /** @description The role of the caller. */
            role: components["schemas"]["Role"];
            /** @description What its bearer presents. It cannot be read again. */
            secret: string;
            /** @description The tenant that the credential belongs to. */
            tenant: string;
        };
        /** @description The answer to a write. */
        ApiKeyWithSecretWrite: {
            /** @description The resource after the write; null if the caller may not see it or asked for `return=minimal`. */
            data: components["schemas"]["ApiKeyWithSecret"] | null;
            /** @description Parts of the work that could not be done now, for example `vector`. */
            degraded: string[];
            /** @description Memories only: how durable the write is. */
            durability?: components["schemas"]["Durability"];
            /** @description Memories only: whether a vector was computed for a new memory. */
            embeddingGenerated?: boolean;
            /** @description Memories only: whether a new vector was computed because the text changed. */
            embeddingRegenerated?: boolean;
            /** @description What the write did. */
            event: components["schemas"]["Outcome"];
            /** @description The id of the resource. */
            id: string;
            /** @description The names of the patterns that were masked before anything was stored. */
            redacted: string[];
            /**
             * Format: int64
             * @description The version of the resource after the write; null if it has none.
             */
            version: number | null;
        };
        /** @description A message that was appended. */
        AppendedMessage: {
            /** @description Who said it. */
            actorId?: string;
            /** @description The text. */
            content: string;
            /**
             * Format: date-time
             * @description When it was said.
             */
            createdAt: string;
            /** @description Number of messages that this write flushed: they are kept as turns and left working memory. */
            flushedCount: number;
            /**
             * Format: uuid
             * @description Its id, which becomes the reference of its turn.
             */
            id: string;
            /** @description Number of messages in working memory after the write. */
            messageCount: number;
            /** @description Anything else, by name. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description In which role it was said. */
            role?: string;
            /** @description The thread. Default: the session, or the agent. */
            threadId?: string;
        };
        /** @description The answer to a write. */
        AppendedMessageWrite: {
            /** @description The resource after the write; null if the caller may not see it or asked for `return=minimal`. */
            data: components["schemas"]["AppendedMessage"] | null;
            /** @description Parts of the work that could not be done now, for example `vector`. */
            degraded: string[];
            /** @description Memories only: how durable the write is. */
            durability?: components["schemas"]["Durability"];
            /** @description Memories only: whether a vector was computed for a new memory. */
            embeddingGenerated?: boolean;
            /** @description Memories only: whether a new vector was computed because the text changed. */
            embeddingRegenerated?: boolean;
            /** @description What the write did. */
            event: components["schemas"]["Outcome"];
            /** @description The id of the resource. */
            id: string;
            /** @description The names of the patterns that were masked before anything was stored. */
            redacted: string[];
            /**
             * Format: int64
             * @description The version of the resource after the write; null if it has none.
             */
            version: number | null;
        };
        /** @description A backup in the folder. */
        Backup: {
            /**
             * Format: int64
             * @description The size of the file, in bytes.
             */
            bytes: number;
            /**
             * Format: date-time
             * @description When the backup was made.
             */
            createdAt: string;
            /** @description The name of the file. */
            name: string;
            /** @description The spaces in it. Empty if the summary beside the file is missing; verifying the backup reads them. */
            spaces: components["schemas"]["BackupSpace"][];
            /** @description The only tenant in it; null if it holds all tenants. */
            tenant: string | null;
        };
        /** @description One page of a list. */
        BackupPage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["Backup"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description What a backup is to hold. */
        BackupRequest: {
            /**
             * @description The only space: `shared`, `users_00` to `users_3f`, `agent_memory_SLUG` or `pool_SLUG`. Default: all spaces,
             *     with agents, pools and keys.
             */
            space?: string | null;
            /** @description The tenant. Default: the tenant of the caller; for an admin of the tenant `default`, all tenants. */
            tenant?: string | null;
        };
        /** @description A space in a backup. */
        BackupSpace: {
            /**
             * Format: int64
             * @description Number of rows.
             */
            rows: number;
            /**
             * Format: int64
             * @description The sequence number of its last ledger entry.
             */
            sequence: number;
            /** @description The name of the space. */
            space: string;
            /** @description The tenant of the space. */
            tenant: string;
        };
        /** @description The result of one memory of a batch. */
        BatchEntry: {
            /** @description Parts of the work that could not be done now, for example `vector`. */
            degraded: string[];
            /** @description How durable the write is; absent if it failed. */
            durability?: components["schemas"]["Durability"];
            /** @description Whether a vector was computed for a new memory; absent if it failed. */
            embeddingGenerated?: boolean;
            /** @description Whether a new vector was computed because the text changed; absent if it failed. */
            embeddingRegenerated?: boolean;
            /** @description Why it failed; absent if it succeeded. */
            error?: components["schemas"]["Problem"];
            /** @description What the write did; absent if it failed. */
            event?: components["schemas"]["Outcome"];
            /**
             * Format: uuid
             * @description The id of the memory; absent if it failed.
             */
            id?: string;
            /** @description The position in the batch, from 0. */
            index: number;
            /** @description The names of the patterns that were masked before anything was stored. */
            redacted: string[];
            /**
             * Format: int64
             * @description The version of the memory; absent if it failed.
             */
            version?: number;
        };
        /** @description The results of a batch. */
        BatchResult: {
            /** @description The result of each memory, in order. Without `continueOnError`, the first failure is the last result. */
            data: components["schemas"]["BatchEntry"][];
            /** @description The number of memories that failed. */
            failed: number;
            /** @description The number of memories that were added or known. */
            succeeded: number;
        };
        /** @description The identifiers that a caller may use. If all sets are empty, any identifier is allowed. */
        Bounds: {
            /**
             * @description Allowed agents, by slug. `*` allows any.
             * @default []
             */
            agents?: string[];
            /**
             * @description Allowed companies. `*` allows any.
             * @default []
             */
            companies?: string[];
            /**
             * @description Allowed organizations. `*` allows any.
             * @default []
             */
            orgs?: string[];
            /**
             * @description Allowed pools, by slug. `*` allows any.
             * @default []
             */
            pools?: string[];
            /**
             * @description Allowed projects. `*` allows any.
             * @default []
             */
            projects?: string[];
            /**
             * @description Allowed sessions. An empty set allows any, because a session belongs to a user.
             * @default []
             */
            sessions?: string[];
            /**
             * @description Allowed teams. `*` allows any.
             * @default []
             */
            teams?: string[];
            /**
             * @description Allowed users. `*` allows any.
             * @default []
             */
            users?: string[];
        };
        /**
         * @description How long a stretch of time is.
         * @enum {string}
         */
        Bucket: "hour" | "day" | "week" | "whole";
        /** @description How the tokens of a window are divided. */
        Budgets: {
            /** @description For the input, and for the conversation before it. */
            input: number;
            /** @description For memory. */
            memory: number;
            /** @description For the answer. */
            output: number;
            /** @description For the system prompt. */
            system: number;
            /** @description For the descriptions of tools. */
            tools: number;
            /** @description All of them. */
            total: number;
        };
        /** @description A thread with at least one checkpoint. */
        CheckpointThread: {
            /**
             * Format: int64
             * @description The number of checkpoints in all namespaces.
             */
            checkpoints: number;
            /** @description The id of the newest checkpoint. */
            latestId: string;
            /** @description The namespace of the newest checkpoint. */
            latestNamespace: string;
            /** @description The id of the thread. */
            threadId: string;
            /**
             * Format: date-time
             * @description When the newest checkpoint was written.
             */
            updatedAt: string;
        };
        /** @description One page of a list. */
        CheckpointThreadPage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["CheckpointThread"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description A feature with its weight. */
        ClueWeight: {
            /** @description The name of the clue. */
            clue: string;
            /**
             * Format: double
             * @description The value of the clue.
             */
            value: number;
            /**
             * Format: double
             * @description The weight of the clue.
             */
            weight: number;
        };
        /** @description The condition of a component. */
        ComponentHealth: {
            /**
             * Format: double
             * @description Time that it took to answer, in milliseconds.
             */
            latencyMs: number;
            /** @description What is wrong. Absent if nothing is. */
            message?: string;
            /** @description The product, for example `sqlite`. Absent while it does not answer. */
            name?: string;
            /** @description Whether it works. */
            status: components["schemas"]["HealthStatus"];
            /** @description The version of the product. */
            version?: string;
        };
        /** @description The result of a consolidation. */
        ConsolidationReport: {
            /** @description Number of new memories. */
            added: number;
            /** @description Number of sentences that were selected. */
            candidates: number;
            /** @description Number of entities that are new or have new names. */
            entities: number;
            /** @description Number of memories that were linked because they may contradict each other. */
            linked: number;
            /** @description Requests to remember something for which no content was found. */
            missed?: string[];
            /** @description Number of sentences that wait for consent. */
            proposed: number;
            /** @description Number of refused statements of a language model, by reason. */
            refused?: {
                [key: string]: number;
            };
            /** @description Number of sentences that add nothing to known memories. */
            skipped: number;
            /** @description Number of replaced memories. */
            superseded: number;
            /** @description Number of turns that were read. */
            turns: number;
            /**
             * Format: date-time
             * @description Until when the remaining turns wait, because the daily cap is reached.
             */
            waitsUntil?: string;
        };
        /** @description The tokens of each part of a context. */
        ContextTokens: {
            /** @description Of the conversation, with the summary of its older part. */
            history: number;
            /** @description Of the input. */
            input: number;
            /** @description Of memory. */
            memory: number;
            /** @description Of the system prompt. */
            system: number;
            /** @description Of the tools. */
            tools: number;
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        ContributionRequest: {
            accessPolicy?: components["schemas"]["AccessPolicy"] | null;
            /** @description The person or agent that said or wrote it. */
            actorId?: string | null;
            /**
             * @description Whether it is added without comparing it with known memories: it neither repeats nor replaces any.
             * @default false
             */
            asIs?: boolean;
            /** @description A label from the categories configuration. */
            category?: string | null;
            /**
             * Format: double
             * @description The confidence, 0 to 1. Default: 1.
             */
            confidence?: number | null;
            /** @description The text. */
            content: string;
            /**
             * Format: double
             * @description How fast the confidence decays, 0 to 1. Default: by its kind.
             */
            decayRate?: number | null;
            durability?: components["schemas"]["Durability"] | null;
            /**
             * @description Its vector by the embedding model of this server, which is then not computed. Default: computed. It is ignored if
             *     something in the text was masked.
             */
            embedding?: number[] | null;
            /** @description The name of the model that made `embedding`. It must be the model of this server. Default: not checked. */
            embeddingModel?: string | null;
            /**
             * Format: date-time
             * @description When it happened: an instant, or a day.
             */
            eventTime?: string | null;
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * Format: date-time
             * @description The instant, or day, from which it is not returned any more and may be removed. Default: never.
             */
            expiresAt?: string | null;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /**
             * Format: double
             * @description The importance, 0 to 1. Default: estimated from the text.
             */
            importance?: number | null;
            /** @description The kind. Default: chosen by the text. */
            kind?: string | null;
            knowledgePointer?: components["schemas"]["KnowledgePointer"] | null;
            layer?: components["schemas"]["Layer"] | null;
            /**
             * Format: uuid
             * @description The id of the memory that is copied.
             */
            memoryId?: string | null;
            /**
             * @description Further fields, by name.
             * @default {}
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * @description Whether it is kept whatever its age. Default: false.
             * @default false
             */
            pinned?: boolean;
            /**
             * Format: double
             * @description The relevance from which it begins to decay, 0 to 1. Default: 1.
             */
            relevance?: number | null;
            /** @description The role of the speaker: `user`, `assistant`, `tool` or `system`. */
            role?: string | null;
            /** @description The agent run that wrote it. */
            runId?: string | null;
            /**
             * Format: date-time
             * @description When it was said or written: an instant, or a day. Default: now.
             */
            saidAt?: string | null;
            source?: components["schemas"]["Source"] | null;
            /**
             * @description Labels that the caller chooses.
             * @default []
             */
            tags?: string[];
            /** @description The conversation that it belongs to. */
            threadId?: string | null;
            /**
             * Format: date-time
             * @description The first instant, or day, at which it holds. Default: no limit.
             */
            validFrom?: string | null;
            /**
             * Format: date-time
             * @description The first instant, or day, at which it no longer holds. Default: no limit.
             */
            validUntil?: string | null;
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        CorrectionRequest: {
            /** @description The text that is right. */
            content: string;
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /** @description Why the old text was wrong, for the history. */
            reason?: string | null;
        };
        /** @description A key to be made. */
        CreateKey: {
            /** @description The identifiers that it may name. Default: any. */
            bounds?: components["schemas"]["Bounds"];
            /** @description The categories that it may see; null: all. */
            categories?: string[] | null;
            /** @description When it expires: an instant, or a day in `retrieval.time_zone`. Default: never. */
            expiresAt?: string | null;
            /** @description What the key is for. */
            name: string;
            /** @description What it may do besides what its role allows: `hard_delete`, `erase`, `consent`. An admin has all rights. Default: none. */
            rights?: components["schemas"]["Right"][];
            /** @description Its role. */
            role: components["schemas"]["Role"];
        };
        /** @description A tenant that was created, with its first key. */
        CreatedTenant: {
            /** @description The id of its first key, which has the role admin. */
            keyId: string;
            /** @description The secret of that key. It is shown this once. */
            secret: string;
            /** @description The name of the tenant. */
            tenant: string;
        };
        /** @description The answer to a write. */
        CreatedTenantWrite: {
            /** @description The resource after the write; null if the caller may not see it or asked for `return=minimal`. */
            data: components["schemas"]["CreatedTenant"] | null;
            /** @description Parts of the work that could not be done now, for example `vector`. */
            degraded: string[];
            /** @description Memories only: how durable the write is. */
            durability?: components["schemas"]["Durability"];
            /** @description Memories only: whether a vector was computed for a new memory. */
            embeddingGenerated?: boolean;
            /** @description Memories only: whether a new vector was computed because the text changed. */
            embeddingRegenerated?: boolean;
            /** @description What the write did. */
            event: components["schemas"]["Outcome"];
            /** @description The id of the resource. */
            id: string;
            /** @description The names of the patterns that were masked before anything was stored. */
            redacted: string[];
            /**
             * Format: int64
             * @description The version of the resource after the write; null if it has none.
             */
            version: number | null;
        };
        /**
         * @description How durable an acknowledged write is.
         * @enum {string}
         */
        Durability: "durable" | "batched";
        /** @description A typed link from one memory to another. There is at most one for each source, target and relation. */
        Edge: {
            /**
             * Format: double
             * @description Confidence in the link, 0 to 1.
             */
            confidence: number;
            /**
             * Format: date-time
             * @description When the link was stored.
             */
            createdAt: string;
            /** @description Evidence for the link, as JSON values. */
            evidence: unknown[];
            /** @description The id of the link. */
            id: components["schemas"]["EdgeId"];
            /** @description A word that refines the relation. */
            predicate?: string;
            /** @description The relation. */
            relation: components["schemas"]["Relation"];
            /** @description The memory where it starts. */
            sourceId: components["schemas"]["MemoryId"];
            /**
             * Format: double
             * @description Strength of the link, 0 to 1.
             */
            strength: number;
            /** @description The memory where it ends. */
            targetId: components["schemas"]["MemoryId"];
            /**
             * Format: date-time
             * @description Start of validity.
             */
            validFrom: string;
            /**
             * Format: date-time
             * @description End of validity. Absent: it still holds.
             */
            validUntil?: string;
        };
        /**
         * Format: uuid
         * @description The id of a link between two memories.
         */
        EdgeId: string;
        /** @description One page of a list. */
        EdgePage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["Edge"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description A thing that memories mention: a person, a project, an organization, a place, a concept or a tool. */
        Entity: {
            /** @description Other names of the same entity. */
            aliases: string[];
            /** @description Further attributes, by name. */
            attributes: {
                [key: string]: unknown;
            };
            /** @description The canonical name. */
            canonicalName: string;
            /**
             * Format: date-time
             * @description When it was first mentioned. Called `firstSeen` in exports of format 1.
             */
            createdAt: string;
            /** @description The type. */
            entityType: components["schemas"]["EntityType"];
            /** @description The id of the entity. */
            id: components["schemas"]["EntityId"];
            /**
             * Format: int64
             * @description The number of counted mentions.
             */
            mentionCount: number;
            /** @description A profile of a few sentences. */
            summary?: string;
            /**
             * Format: date-time
             * @description When it last changed. Called `lastUpdated` in exports of format 1.
             */
            updatedAt: string;
        };
        /**
         * Format: uuid
         * @description The id of an entity.
         */
        EntityId: string;
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        EntityMergeRequest: {
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /** @description The id, the name or an alias of the entity that is merged into the one in the path. */
            from: string;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
        };
        /** @description One page of a list. */
        EntityPage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["Entity"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description What is known of an entity. */
        EntityProfile: {
            /** @description The entity. */
            entity: components["schemas"]["Entity"];
            /** @description What memories say of it, newest first. */
            memories: components["schemas"]["Memory"][];
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        EntitySplitRequest: {
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * Format: uuid
             * @description The id of the entity that was merged.
             */
            id: string;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
        };
        /**
         * @description The type of an entity.
         * @enum {string}
         */
        EntityType: "person" | "project" | "organization" | "place" | "concept" | "tool";
        /** @description The answer to a write. */
        EntityWrite: {
            /** @description The resource after the write; null if the caller may not see it or asked for `return=minimal`. */
            data: components["schemas"]["Entity"] | null;
            /** @description Parts of the work that could not be done now, for example `vector`. */
            degraded: string[];
            /** @description Memories only: how durable the write is. */
            durability?: components["schemas"]["Durability"];
            /** @description Memories only: whether a vector was computed for a new memory. */
            embeddingGenerated?: boolean;
            /** @description Memories only: whether a new vector was computed because the text changed. */
            embeddingRegenerated?: boolean;
            /** @description What the write did. */
            event: components["schemas"]["Outcome"];
            /** @description The id of the resource. */
            id: string;
            /** @description The names of the patterns that were masked before anything was stored. */
            redacted: string[];
            /**
             * Format: int64
             * @description The version of the resource after the write; null if it has none.
             */
            version: number | null;
        };
        /** @description An entry of a session. */
        Entry: {
            /** @description The text. */
            content: string;
            /**
             * Format: date-time
             * @description When it was stored.
             */
            createdAt: string;
            /** @description Its id. */
            id: string;
            /**
             * Format: double
             * @description The importance, 0 to 1.
             */
            importance: number;
            /** @description Further fields, by name. */
            metadata?: {
                [key: string]: unknown;
            };
        };
        /** @description The answer to a write. */
        EntryWrite: {
            /** @description The resource after the write; null if the caller may not see it or asked for `return=minimal`. */
            data: components["schemas"]["Entry"] | null;
            /** @description Parts of the work that could not be done now, for example `vector`. */
            degraded: string[];
            /** @description Memories only: how durable the write is. */
            durability?: components["schemas"]["Durability"];
            /** @description Memories only: whether a vector was computed for a new memory. */
            embeddingGenerated?: boolean;
            /** @description Memories only: whether a new vector was computed because the text changed. */
            embeddingRegenerated?: boolean;
            /** @description What the write did. */
            event: components["schemas"]["Outcome"];
            /** @description The id of the resource. */
            id: string;
            /** @description The names of the patterns that were masked before anything was stored. */
            redacted: string[];
            /**
             * Format: int64
             * @description The version of the resource after the write; null if it has none.
             */
            version: number | null;
        };
        /** @description What was erased, or would be. */
        Erasure: {
            /** @description Whether it is gone; otherwise this is what would go. */
            erased: boolean;
            /** @description What may be left outside of what Loci can reach, and why. */
            left: string[];
            /** @description What no erasure can reach. */
            notReached: string[];
            /** @description Whether freed pages, words and logs were cleaned too. */
            scrubbed: boolean;
            /** @description What there was, by space. */
            spaces: {
                [key: string]: components["schemas"]["UserData"];
            };
            /** @description All of it together. */
            total: components["schemas"]["UserData"];
            /** @description The user. */
            userId: string;
            /**
             * Format: int64
             * @description Working memories and sessions in the tiers; counted when they go.
             */
            working: number;
        };
        /** @description What is to be erased. */
        ErasureRequest: {
            /**
             * @description Whether it is only counted what would be erased. Default: true.
             * @default true
             */
            dryRun?: boolean;
            /**
             * @description Whether freed pages, indexes and logs are cleaned too. It takes long and delays writers. Default: true.
             * @default true
             */
            scrub?: boolean;
            /**
             * @description The tenant of the user. Only an admin of the tenant `default` may name another one than their own. Default: the
             *     tenant of the credential.
             */
            tenant?: string | null;
            /** @description The user. */
            userId: string;
        };
        /** @description What a pass would cost. */
        Estimate: {
            /**
             * Format: int64
             * @description Memories there are.
             */
            memories: number;
            /**
             * Format: int64
             * @description Tokens of their texts.
             */
            tokens: number;
            /**
             * Format: int64
             * @description Vectors that are to be made.
             */
            vectors: number;
        };
        /**
         * @description Why a memory was found and ranked as it was:
         *
         *     * `evidence` = Σ `weight · value` over the clues + `kind` + `lift`;
         *     * `relevance` = `confidence · exp((evidence − best) / 3)`, or what a reranker said;
         *     * `sum` = `wₛ·relevance + closeness · (wᵣ·recency + wᵤ·utility)`;
         *     * `score` = `sum + (1 − sum) · closeness · (layer + relation)`.
         */
        Explanation: {
            /**
             * Format: double
             * @description The evidence of the best candidate.
             */
            best: number;
            /**
             * Format: double
             * @description Closeness to the most relevant memory, 0..1. Recency, utility, layer and relation are multiplied by it: they order
             *     memories of similar relevance and do not lift a clearly less relevant one.
             */
            closeness: number;
            /** @description The clues with their weights; only those with a value. */
            clues: components["schemas"]["ClueWeight"][];
            /**
             * Format: double
             * @description The probability that the best results answer the query at all, 0 to 1.
             */
            confidence: number;
            /**
             * Format: double
             * @description The weighted sum of the clues, plus `kind` and `lift`.
             */
            evidence: number;
            /**
             * Format: double
             * @description The addition for its kind and state.
             */
            kind: number;
            /** @description The lanes that found it. Empty if it is a neighbour of their hits. */
            lanes: components["schemas"]["LaneRank"][];
            /**
             * Format: double
             * @description The bonus of its layer.
             */
            layer: number;
            /**
             * Format: double
             * @description The addition that ranks it above an older memory with the same statement, or in place of a turn it was learned
             *     from.
             */
            lift?: number;
            /** @description Memories with the same statement that this one replaced in the results. */
            overrides?: components["schemas"]["MemoryId"][];
            /** @description The part of a long note that was found. */
            passage?: string;
            /**
             * Format: double
             * @description Recency, 0..1.
             */
            recency: number;
            /** @description Memories that are linked to it. */
            related?: components["schemas"]["RelatedMemory"][];
            /**
             * Format: double
             * @description The bonus of its strongest relation.
             */
            relation: number;
            /**
             * Format: double
             * @description Relevance to the question, 0..1.
             */
            relevance: number;
            /**
             * Format: double
             * @description The score of the reranker, 0 to 1, which replaces the evidence.
             */
            reranked?: number;
            /**
             * Format: double
             * @description Its cosine to the query, `max(0, cosine)`. Absent if the vector lane did not find it.
             */
            similarity?: number;
            /** @description Turns that it was learned from and that were found as well. */
            sources?: components["schemas"]["MemoryId"][];
            /**
             * Format: double
             * @description Utility, 0..1.
             */
            utility: number;
            /** @description The weights of relevance, recency and utility. */
            weights: components["schemas"]["Weights"];
        };
        /** @description A fact: a triple of one scope. */
        Fact: {
            /**
             * Format: double
             * @description Confidence in the fact, 0 to 1.
             */
            confidence: number;
            /**
             * Format: date-time
             * @description When it was first stated.
             */
            createdAt: string;
            /** @description The type of the fact, for example `preference`, `uses` or `located_at`. */
            factType: string;
            /** @description The id, a hash of scope, type, subject, predicate and object. */
            id: components["schemas"]["FactId"];
            /** @description The identifiers of its scope. */
            identifiers: components["schemas"]["Identifiers"];
            /** @description The layer of its scope. */
            layer: components["schemas"]["Layer"];
            /** @description Further metadata, by name. */
            metadata: {
                [key: string]: unknown;
            };
            /** @description The object, for example `v16`. */
            object: string;
            /** @description The predicate, for example `has_version`. */
            predicate: string;
            /** @description The memories that it was learned from and that the reader may see. */
            sources: components["schemas"]["MemoryId"][];
            /** @description The subject, for example `Database`. */
            subject: string;
            /**
             * Format: date-time
             * @description When it last changed.
             */
            updatedAt: string;
        };
        /**
         * Format: uuid
         * @description The id of a fact.
         */
        FactId: string;
        /** @description One page of a list. */
        FactPage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["Fact"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description The answer to a write. */
        FactWrite: {
            /** @description The resource after the write; null if the caller may not see it or asked for `return=minimal`. */
            data: components["schemas"]["Fact"] | null;
            /** @description Parts of the work that could not be done now, for example `vector`. */
            degraded: string[];
            /** @description Memories only: how durable the write is. */
            durability?: components["schemas"]["Durability"];
            /** @description Memories only: whether a vector was computed for a new memory. */
            embeddingGenerated?: boolean;
            /** @description Memories only: whether a new vector was computed because the text changed. */
            embeddingRegenerated?: boolean;
            /** @description What the write did. */
            event: components["schemas"]["Outcome"];
            /** @description The id of the resource. */
            id: string;
            /** @description The names of the patterns that were masked before anything was stored. */
            redacted: string[];
            /**
             * Format: int64
             * @description The version of the resource after the write; null if it has none.
             */
            version: number | null;
        };
        /** @description A memory that could not be changed. */
        FailedMemory: {
            /** @description Why it failed. */
            error: components["schemas"]["Problem"];
            /**
             * Format: uuid
             * @description The id of the memory.
             */
            id: string;
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        FilterDeletionRequest: {
            /**
             * @description Whether a filter without conditions is allowed, which selects all memories of the scope. Default: false.
             * @default false
             */
            all?: boolean;
            /**
             * @description Whether nothing is deleted, and the answer only tells what would be.
             * @default true
             */
            dryRun?: boolean;
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * Format: int64
             * @description The number of matches that the caller expects. If there are more or fewer, nothing is deleted.
             */
            expected?: number | null;
            /** @description The memories that are deleted. A filter without conditions is refused unless `all` is true. */
            filter: components["schemas"]["MemoryFilter"];
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /** @description The reason, which is recorded in the history of each memory. */
            reason?: string | null;
        };
        /** @description The result of an action on all matches of a filter. */
        FilterResult: {
            /**
             * Format: int64
             * @description The number of memories that were changed; 0 in a dry run.
             */
            changed: number;
            /** @description The ids of the first 20 matches, newest first. */
            data: string[];
            /** @description Whether it was a dry run. */
            dryRun: boolean;
            /** @description The memories that could not be changed; at most 100 of them. */
            failed: components["schemas"]["FailedMemory"][];
            /**
             * Format: int64
             * @description The number of memories that matched.
             */
            matched: number;
            /** @description Whether there were more matches than the 10,000 that one call changes. Call again for the rest. */
            truncated: boolean;
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        FilterUpdateRequest: {
            /**
             * @description Whether a filter without conditions is allowed, which selects all memories of the scope. Default: false.
             * @default false
             */
            all?: boolean;
            /** @description The new values, the same for each memory. `version` and `content` cannot be given. */
            changes: components["schemas"]["MemoryChanges"];
            /**
             * @description Whether nothing is changed, and the answer only tells what would be.
             * @default true
             */
            dryRun?: boolean;
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * Format: int64
             * @description The number of matches that the caller expects. If there are more or fewer, nothing is changed.
             */
            expected?: number | null;
            /** @description The memories that are changed. A filter without conditions is refused unless `all` is true. */
            filter: components["schemas"]["MemoryFilter"];
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
        };
        /** @description What was flushed. */
        FlushedWorking: {
            /** @description Number of messages that are now kept as turns and left working memory. */
            flushedCount: number;
        };
        /**
         * @description The shape of what is packed.
         * @enum {string}
         */
        Format: "markdown" | "bullets" | "messages" | "json";
        /**
         * @description How an entry was found.
         * @enum {string}
         */
        FoundBy: "similarity" | "words";
        /** @description An entry, and how it matched the query if one was given. */
        FoundEntry: {
            /** @description The text. */
            content: string;
            /**
             * Format: date-time
             * @description When it was stored.
             */
            createdAt: string;
            /** @description How the entry was found. */
            foundBy?: components["schemas"]["FoundBy"];
            /** @description Its id. */
            id: string;
            /**
             * Format: double
             * @description The importance, 0 to 1.
             */
            importance: number;
            /** @description Further fields, by name. */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Format: double
             * @description The score: a cosine similarity, or the share of the words of the query.
             */
            score?: number;
        };
        /** @description One page of a list. */
        FoundEntryPage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["FoundEntry"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /**
         * @description The condition of a part, or of the whole.
         * @enum {string}
         */
        HealthStatus: "healthy" | "degraded" | "unhealthy";
        /** @description The identifiers that a caller gave, or that a record carries. */
        Identifiers: {
            /** @description The agent, by its URL-safe slug. */
            agentId?: string | null;
            /** @description The company. */
            companyId?: string | null;
            /** @description The organization. */
            orgId?: string | null;
            /** @description The pool, by its URL-safe slug. */
            poolId?: string | null;
            /** @description The project or repository. */
            projectId?: string | null;
            /** @description The session, a conversation. */
            sessionId?: string | null;
            /** @description The team. */
            teamId?: string | null;
            /** @description The user. */
            userId?: string | null;
        };
        /**
         * @description The system that wrote a file.
         * @enum {string}
         */
        ImportFormat: "auto" | "loci" | "mem0" | "chatgpt" | "claude" | "langgraph" | "markdown" | "mcp_memory";
        /** @description Why something was not imported. */
        ImportProblem: {
            /**
             * Format: int64
             * @description The line of the body, from 1; null if the body has no lines or the entry is known by its text only.
             */
            line: number | null;
            /** @description Why. */
            message: string;
            /** @description Where it is: `line 3`, `entry 7`, or the beginning of its text. */
            place: string;
        };
        /** @description What became of an import. Everything that was read is counted once. */
        ImportReport: {
            /**
             * Format: int64
             * @description Number of records that differ from a stored record with the same id. The stored one stays.
             */
            conflicts: number;
            /**
             * Format: int64
             * @description Number of conversations that the imported memories of another system belong to.
             */
            conversations: number;
            /** @description Whether nothing was written. */
            dryRun: boolean;
            /** @description The format in which the body was read. */
            format: components["schemas"]["ImportFormat"];
            /**
             * Format: int64
             * @description Number of records that are new here.
             */
            imported: number;
            /** @description Number of imported and replaced records by kind of memory or type of line. */
            kinds: {
                [key: string]: number;
            };
            /** @description Number of imported memories of another system by owner. */
            owners: {
                [key: string]: number;
            };
            /** @description The first 20 problems. */
            problems: components["schemas"]["ImportProblem"][];
            /**
             * Format: int64
             * @description Number of records that cannot be read or kept.
             */
            refused: number;
            /**
             * Format: int64
             * @description Number of records that replaced another one.
             */
            replaced: number;
            /** @description The first five records of a dry run. */
            samples: components["schemas"]["ImportSample"][];
            /**
             * Format: int64
             * @description Number of records that were known.
             */
            skipped: number;
        };
        /** @description A record that would be imported. */
        ImportSample: {
            /** @description The beginning of the text. */
            content: string;
            /** @description The kind of the memory. */
            kind: string;
            /** @description The owner. */
            owner: string;
        };
        /** @description The results of turns that were ingested. */
        IngestedTurns: {
            /** @description One entry for each turn, in the order of the request. */
            data: components["schemas"]["TurnWrites"][];
        };
        /**
         * @description The kind of work.
         * @enum {string}
         */
        JobKind: "embed" | "link" | "consolidate" | "enrich" | "causal" | "insight" | "summarize" | "distil" | "purge";
        /** @description A job as an admin sees it. */
        JobRecord: {
            /**
             * Format: int32
             * @description The number of attempts so far.
             */
            attempts: number;
            /**
             * Format: date-time
             * @description When it was enqueued.
             */
            createdAt: string;
            /**
             * Format: int64
             * @description The number of the job within its space.
             */
            id: number;
            /** @description The kind of work. */
            kind: components["schemas"]["JobKind"];
            /** @description The error of the last failed attempt. */
            lastError?: string;
            /** @description The parameters. */
            payload: unknown;
            /**
             * Format: date-time
             * @description The job does not run before this time.
             */
            runAfter: string;
            /** @description The space that the job belongs to. */
            space: string;
            /** @description `waiting`, `running` or `dead`. */
            state: string;
        };
        /** @description One page of a list. */
        JobRecordPage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["JobRecord"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description What a run of jobs did. */
        JobRunReport: {
            /** @description Jobs that are done. */
            done: number;
            /** @description Jobs that failed and wait for a retry, or were set aside. */
            failed: number;
            /** @description What sessions taught. */
            learned: components["schemas"]["ConsolidationReport"];
            /** @description Number of vectors that were computed. */
            vectors: number;
            /** @description Jobs that wait for another day, because a cap is reached. */
            waiting: number;
        };
        /**
         * @description Which of two memories that may contradict each other holds.
         * @enum {string}
         */
        Keep: "both" | "newer" | "older";
        /** @description The name of a kind. */
        Kind: string;
        /** @description The knowledge item that a memory mirrors. */
        KnowledgePointer: {
            /** @description The hash of the item when it was last read. */
            contentHash: string;
            /** @description The id of the item. */
            sourceId: string;
            /** @description The type of the item: `adr`, `policy`, `pattern` or `spec`. */
            sourceType: string;
            /**
             * Format: date-time
             * @description When the item was last read.
             */
            syncedAt: string;
        };
        /** @description The rank of a memory in one lane. */
        LaneRank: {
            /** @description The lane. */
            lane: string;
            /** @description The rank, from 1. */
            rank: number;
            /**
             * Format: double
             * @description The score on the lane's own scale.
             */
            score: number;
        };
        /**
         * @description The layer of a memory, from the most specific to the least.
         * @enum {string}
         */
        Layer: "agent" | "user" | "session" | "project" | "team" | "org" | "company" | "pool";
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        LearnSessionRequest: {
            /**
             * @description Whether the learning starts at the first turn of the session. Otherwise it starts at the first turn that was not
             *     learned from yet.
             * @default true
             */
            again?: boolean;
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /**
             * @description Whether the learning is done before the answer, which is then the report. Otherwise it is queued.
             * @default false
             */
            wait?: boolean;
        };
        /** @description How learning goes. */
        LearningStats: {
            /**
             * Format: double
             * @description The share of learned statements that kept the writing rules. Absent if nothing was learned yet.
             */
            firstPassRate?: number;
            /**
             * Format: int64
             * @description Tokens that the language model has read and written today.
             */
            llmTokensToday: number;
            /**
             * Format: int64
             * @description Requests to remember something for which nothing was found to keep.
             */
            missed: number;
            /**
             * Format: int64
             * @description Statements that a language model wrote and that were refused.
             */
            refused: number;
            /**
             * Format: int64
             * @description Memories that were learned from sessions.
             */
            statements: number;
            /**
             * Format: int64
             * @description Summaries of long conversations that are kept.
             */
            summaries: number;
            /**
             * Format: int64
             * @description Tokens that these summaries have saved.
             */
            tokensSaved: number;
        };
        /** @description One entry of the ledger. */
        LedgerEntry: {
            /** @description The actor that made the change. */
            actor?: string;
            /**
             * Format: date-time
             * @description When the change was made. Earlier versions wrote it as `at`.
             */
            createdAt: string;
            /** @description The event, in capitals, for example `ADD`. */
            event: string;
            /** @description The memory that changed, if the entry is about one. */
            memoryId?: components["schemas"]["MemoryId"];
            /** @description The new values, or references to what was made. */
            new?: unknown;
            /** @description The part of Loci that made the change. */
            node?: string;
            /** @description The previous values, as far as undo needs them. */
            old?: unknown;
            /** @description The reason for the change. */
            reason: string;
            /** @description The id of the request that caused it. */
            requestId?: string;
            /**
             * Format: int64
             * @description The sequence number within the space.
             */
            sequence: number;
            /** @description The space that the entry belongs to. */
            space: string;
            /** @description The conversation in which it was made. */
            threadId?: string;
            /**
             * Format: int64
             * @description The version of the memory after the change.
             */
            version?: number;
        };
        /** @description One page of a list. */
        LedgerEntryPage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["LedgerEntry"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description An entry of the ledger with its place. */
        LedgerItem: {
            /** @description Who. */
            actor?: string;
            /** @description The memory's category now. */
            category?: string;
            /** @description The names of the fields that changed. */
            changed?: string[];
            /** @description What the memory says now, unless it is forgotten or only proposed. */
            content?: string;
            /**
             * Format: date-time
             * @description When.
             */
            createdAt: string;
            /** @description The place after the entry, for `after` of a later request. */
            cursor: string;
            /** @description What, in capitals as history shows it. */
            event: string;
            /** @description The memory's kind now. */
            kind?: components["schemas"]["Kind"];
            /** @description The memory's layer. */
            layer?: components["schemas"]["Layer"];
            /** @description About which memory. */
            memoryId?: components["schemas"]["MemoryId"];
            /** @description Which part of Loci. */
            node?: string;
            /** @description Why. */
            reason: string;
            /** @description The actor who requested the change. */
            requestId?: string;
            /**
             * Format: int64
             * @description Its number within the space.
             */
            sequence: number;
            /** @description The space in which it happened. */
            space: string;
            /** @description Where the memory stands now. */
            state?: components["schemas"]["State"];
            /** @description In which conversation. */
            threadId?: string;
            /**
             * Format: int64
             * @description The version after it.
             */
            version?: number;
        };
        /** @description One page of a list. */
        LedgerItemPage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["LedgerItem"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description Liveness. */
        Liveness: {
            /** @description Always `healthy`: a process that is not does not answer. */
            status: components["schemas"]["HealthStatus"];
        };
        /** @description What a run did, or would do. */
        MaintainReport: {
            /** @description Whether nothing was changed. */
            dryRun: boolean;
            /**
             * Format: date-time
             * @description The instant that counted as now.
             */
            now: string;
            /** @description The steps, in their order. */
            steps: components["schemas"]["StepReport"][];
        };
        /** @description What maintenance does. */
        Maintenance: {
            /**
             * @description Whether the plan is returned and nothing is changed.
             * @default false
             */
            dryRun?: boolean;
            /** @description Run as if now were this time: an instant, or a day in `retrieval.time_zone`. Default: now. */
            now?: string | null;
            /**
             * @description Only these steps. Default: all.
             * @default []
             */
            only?: components["schemas"]["Step"][];
        };
        /** @description One memory with all its fields. */
        Memory: {
            /**
             * Format: int64
             * @description The number of times that recall returned it.
             */
            accessCount: number;
            /** @description Which callers within the scope may see it. */
            accessPolicy: components["schemas"]["AccessPolicy"];
            /** @description The person or agent that said or wrote it. */
            actorId?: string;
            /** @description A label from the categories configuration. */
            category?: string;
            /**
             * Format: double
             * @description Confidence that it is true, 0 to 1.
             */
            confidence: number;
            /** @description The text. */
            content: string;
            /** @description The hash of the normalised text. */
            contentHash: string;
            /**
             * Format: date-time
             * @description When it was created, here or in the system that it was imported from.
             */
            createdAt: string;
            /**
             * Format: double
             * @description Rate at which confidence decays with time since the last access. 0: no decay.
             */
            decayRate: number;
            /**
             * Format: date-time
             * @description When the event happened.
             */
            eventTime?: string;
            /**
             * Format: date-time
             * @description When it expires. Recall does not return expired memories.
             */
            expiresAt?: string;
            /** @description The id, a UUIDv7: ids sort by time of creation. */
            id: components["schemas"]["MemoryId"];
            /** @description The identifiers of its scope and of its origin. */
            identifiers: components["schemas"]["Identifiers"];
            /**
             * Format: double
             * @description Importance, 0 to 1.
             */
            importance: number;
            /**
             * Format: date-time
             * @description When it was imported into this store. Ageing starts from this time.
             */
            importedAt?: string;
            /** @description The kind. */
            kind: components["schemas"]["Kind"];
            /** @description The knowledge item that it mirrors. */
            knowledgePointer?: components["schemas"]["KnowledgePointer"];
            /**
             * Format: date-time
             * @description When recall last returned it.
             */
            lastAccessedAt?: string;
            /** @description The layer of its scope. */
            layer: components["schemas"]["Layer"];
            /** @description Further fields, by name. */
            metadata: {
                [key: string]: unknown;
            };
            /** @description A pinned memory is exempt from ageing, expiry clean-up and automatic replacement. */
            pinned: boolean;
            /**
             * Format: date-time
             * @description When a soft-deleted memory is removed for good, or a proposal lapses.
             */
            purgeAt?: string;
            /**
             * Format: double
             * @description Relevance, 0 to 1, which decays daily if the configuration sets a rate.
             */
            relevance: number;
            /** @description The role of the speaker: `user`, `assistant`, `tool` or `system`. */
            role?: string;
            /** @description The agent run that wrote it. */
            runId?: string;
            /**
             * Format: date-time
             * @description When it was said or written, if that is known and differs from `createdAt`.
             */
            saidAt?: string;
            /** @description How it was acquired. */
            source?: components["schemas"]["Source"];
            /** @description The state in its life cycle. */
            state: components["schemas"]["State"];
            /** @description The newer memory that superseded this one. */
            supersededById?: components["schemas"]["MemoryId"];
            /** @description The older memory that this one supersedes. */
            supersedesId?: components["schemas"]["MemoryId"];
            /** @description Labels that the caller chooses. */
            tags: string[];
            /** @description The conversation that it belongs to. */
            threadId?: string;
            /**
             * Format: int32
             * @description The number of tokens of the text.
             */
            tokens: number;
            /**
             * Format: date-time
             * @description When it last changed in the store.
             */
            updatedAt: string;
            /**
             * Format: date-time
             * @description Start of validity: since when the statement is true.
             */
            validFrom?: string;
            /**
             * Format: date-time
             * @description End of validity. Absent: the statement is still true.
             */
            validUntil?: string;
            /**
             * Format: int64
             * @description The version, used as an optimistic lock. It grows by one with every change.
             */
            version: number;
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        MemoryBatchRequest: {
            /**
             * @description Whether the memories after one that fails are added all the same.
             * @default false
             */
            continueOnError?: boolean;
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /** @description The memories. The `identifiers` of one are laid over those of the batch. */
            memories: components["schemas"]["NewMemoryRequest"][];
        };
        /**
         * @description New values for fields of a memory. A field that is left out stays as it is. Null removes the category, the source, the
         *     knowledge pointer and the times; elsewhere it is the same as leaving the field out.
         */
        MemoryChanges: {
            accessPolicy?: components["schemas"]["AccessPolicy"] | null;
            /** @description The new category. */
            category?: string | null;
            /**
             * Format: double
             * @description The new confidence, 0 to 1.
             */
            confidence?: number | null;
            /** @description The new text. Its vector is computed again. */
            content?: string | null;
            /**
             * Format: double
             * @description How fast the confidence decays from now on, 0 to 1.
             */
            decayRate?: number | null;
            /**
             * Format: date-time
             * @description When it happened: an instant, or a day.
             */
            eventTime?: string | null;
            /**
             * Format: date-time
             * @description The instant, or day, from which it is not returned any more and may be removed.
             */
            expiresAt?: string | null;
            /**
             * Format: double
             * @description The new importance, 0 to 1.
             */
            importance?: number | null;
            /** @description The new kind. */
            kind?: string | null;
            knowledgePointer?: components["schemas"]["KnowledgePointer"] | null;
            /** @description Metadata fields that are merged over the old ones; null removes a field. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description Whether it is kept whatever its age. */
            pinned?: boolean | null;
            source?: components["schemas"]["Source"] | null;
            /** @description The new tags, which replace the old ones. */
            tags?: string[] | null;
            /**
             * Format: date-time
             * @description The first instant, or day, at which it holds.
             */
            validFrom?: string | null;
            /**
             * Format: date-time
             * @description The first instant, or day, at which it no longer holds.
             */
            validUntil?: string | null;
            /**
             * Format: int64
             * @description The version that the caller read. If the memory has another one, the change is refused as a conflict.
             */
            version?: number | null;
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        MemoryChangesRequest: {
            accessPolicy?: components["schemas"]["AccessPolicy"] | null;
            /** @description The new category. */
            category?: string | null;
            /**
             * Format: double
             * @description The new confidence, 0 to 1.
             */
            confidence?: number | null;
            /** @description The new text. Its vector is computed again. */
            content?: string | null;
            /**
             * Format: double
             * @description How fast the confidence decays from now on, 0 to 1.
             */
            decayRate?: number | null;
            /**
             * Format: date-time
             * @description When it happened: an instant, or a day.
             */
            eventTime?: string | null;
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * Format: date-time
             * @description The instant, or day, from which it is not returned any more and may be removed.
             */
            expiresAt?: string | null;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /**
             * Format: double
             * @description The new importance, 0 to 1.
             */
            importance?: number | null;
            /** @description The new kind. */
            kind?: string | null;
            knowledgePointer?: components["schemas"]["KnowledgePointer"] | null;
            /** @description Metadata fields that are merged over the old ones; null removes a field. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description Whether it is kept whatever its age. */
            pinned?: boolean | null;
            source?: components["schemas"]["Source"] | null;
            /** @description The new tags, which replace the old ones. */
            tags?: string[] | null;
            /**
             * Format: date-time
             * @description The first instant, or day, at which it holds.
             */
            validFrom?: string | null;
            /**
             * Format: date-time
             * @description The first instant, or day, at which it no longer holds.
             */
            validUntil?: string | null;
            /**
             * Format: int64
             * @description The version that the caller read. If the memory has another one, the change is refused as a conflict.
             */
            version?: number | null;
        };
        /** @description The number of memories that match a filter. */
        MemoryCount: {
            /**
             * Format: int64
             * @description The number of memories.
             */
            count: number;
        };
        /**
         * @description A field of a memory.
         * @enum {string}
         */
        MemoryField: "id" | "version" | "layer" | "identifiers" | "threadId" | "runId" | "actorId" | "role" | "kind" | "category" | "content" | "contentHash" | "tokens" | "tags" | "metadata" | "source" | "knowledgePointer" | "accessPolicy" | "importance" | "confidence" | "decayRate" | "pinned" | "accessCount" | "lastAccessedAt" | "relevance" | "eventTime" | "saidAt" | "createdAt" | "importedAt" | "updatedAt" | "validFrom" | "validUntil" | "expiresAt" | "purgeAt" | "supersedesId" | "supersededById" | "state";
        /**
         * @description Conditions that a memory must meet. A condition that is absent holds for every memory; a list holds if one of its
         *     values does.
         *
         *     As query parameters, lists are separated by commas, and `userId`, `agentId` and `sessionId` are named
         *     `filter.userId`, `filter.agentId` and `filter.sessionId`, because their plain names are identifiers.
         */
        MemoryFilter: {
            /** @description Any of these access policies. */
            accessPolicy?: components["schemas"]["AccessPolicy"][] | null;
            /** @description Any of these speakers or writers. */
            actorId?: string[] | null;
            /** @description Any of these agents among the identifiers of the memory. */
            agentId?: string[] | null;
            /**
             * Format: date-time
             * @description Selects what held at this instant or day instead of what holds now.
             */
            asOf?: string | null;
            /** @description Any of these categories. */
            category?: string[] | null;
            /**
             * Format: double
             * @description The greatest confidence.
             */
            confidenceMax?: number | null;
            /**
             * Format: double
             * @description The least confidence.
             */
            confidenceMin?: number | null;
            /**
             * Format: date-time
             * @description It was added at this instant or day, or later.
             */
            createdAfter?: string | null;
            /**
             * Format: date-time
             * @description It was added before this instant or day.
             */
            createdBefore?: string | null;
            /**
             * Format: date-time
             * @description It happened at this instant or day, or later. Memories without `eventTime` do not match.
             */
            eventAfter?: string | null;
            /**
             * Format: date-time
             * @description It happened before this instant or day. Memories without `eventTime` do not match.
             */
            eventBefore?: string | null;
            /** @description Whether it mirrors a knowledge item. */
            hasKnowledgePointer?: boolean | null;
            /** @description Any of these ids. */
            id?: components["schemas"]["MemoryRef"][] | null;
            /**
             * Format: double
             * @description The greatest importance.
             */
            importanceMax?: number | null;
            /**
             * Format: double
             * @description The least importance.
             */
            importanceMin?: number | null;
            /** @description Any of these kinds. */
            kind?: string[] | null;
            /** @description Any of these layers. */
            layer?: components["schemas"]["Layer"][] | null;
            /** @description Metadata fields that have exactly these values. As a query parameter, a JSON object. */
            metadata?: Record<string, never>;
            /** @description Whether it is pinned. */
            pinned?: boolean | null;
            /** @description Any of these roles of the speaker. */
            role?: string[] | null;
            /** @description Any of these agent runs. */
            runId?: string[] | null;
            /** @description Any of these sessions among the identifiers of the memory. */
            sessionId?: string[] | null;
            /** @description Any of these roles of the source. */
            sourceRole?: string[] | null;
            /** @description Any of these types of the source, for example `conversation`. */
            sourceType?: string[] | null;
            /** @description Any of these states. Default: `active` and `decayed`. */
            state?: components["schemas"]["State"][] | null;
            /**
             * @description Whether superseded, expired and not yet valid memories are included.
             * @default false
             */
            superseded?: boolean;
            /** @description At least one of these tags. */
            tags?: string[] | null;
            /** @description Any of these conversations. */
            threadId?: string[] | null;
            /**
             * Format: date-time
             * @description It was last changed at this instant or day, or later.
             */
            updatedAfter?: string | null;
            /**
             * Format: date-time
             * @description It was last changed before this instant or day.
             */
            updatedBefore?: string | null;
            /** @description Any of these users among the identifiers of the memory. */
            userId?: string[] | null;
        };
        /**
         * Format: uuid
         * @description The id of a memory.
         */
        MemoryId: string;
        /** @description One page of a list. */
        MemoryPage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["Memory"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /**
         * @description The id of a memory, or a short form of it: its short id of nine decimal digits, the first 6 to 12 hexadecimal
         *     digits of its last block, or the first 19 or more of the whole id. Dashes are ignored. A short form is looked up
         *     among the memories that the caller may see, and must name one of them.
         * @example 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50
         */
        MemoryRef: string;
        /** @description The answer to a write. */
        MemoryWrite: {
            /** @description The resource after the write; null if the caller may not see it or asked for `return=minimal`. */
            data: components["schemas"]["Memory"] | null;
            /** @description Parts of the work that could not be done now, for example `vector`. */
            degraded: string[];
            /** @description Memories only: how durable the write is. */
            durability?: components["schemas"]["Durability"];
            /** @description Memories only: whether a vector was computed for a new memory. */
            embeddingGenerated?: boolean;
            /** @description Memories only: whether a new vector was computed because the text changed. */
            embeddingRegenerated?: boolean;
            /** @description What the write did. */
            event: components["schemas"]["Outcome"];
            /** @description The id of the resource. */
            id: string;
            /** @description The names of the patterns that were masked before anything was stored. */
            redacted: string[];
            /**
             * Format: int64
             * @description The version of the resource after the write; null if it has none.
             */
            version: number | null;
        };
        /** @description One message of a conversation. */
        Message: {
            /** @description What it says. */
            content: string;
            /** @description The role of the author: `system`, `user`, `assistant`. */
            role: string;
        };
        /** @description A memory, and how far away it is. */
        Neighbour: {
            /** @description How many steps away. */
            depth: number;
            /** @description The memory. */
            memory: components["schemas"]["Memory"];
        };
        /** @description The memories around a memory. */
        Neighbourhood: {
            /** @description The links between them. */
            edges: components["schemas"]["Edge"][];
            /** @description The memories, the one in the middle first, then the nearest. */
            nodes: components["schemas"]["Neighbour"][];
            /** @description Whether there were more than the limit. */
            truncated: boolean;
        };
        /** @description An agent to register. */
        NewAgent: {
            /** @description The id of the agent, a URL-safe name. */
            agentId: string;
            /** @description Its own settings; they replace those before. */
            settings?: components["schemas"]["AgentSettings"];
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        NewCheckpointRequest: {
            /** @description JSON as it is, or base64 for any other format. */
            data: unknown;
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /** @description The id that must be the newest of the thread, else it is a conflict. Empty: there must be none yet. */
            expectParent?: string | null;
            /**
             * @description The label of the serializer that made the data. `json` is checked and stored as JSON; any other text, for example
             *     `msgpack`, is the caller's own: Loci stores it and never reads the data.
             * @default json
             */
            format?: string;
            /** @description The id. Default: a new one. */
            id?: string | null;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /** @description Metadata, by name. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description The part of the program. Default: the whole program. */
            namespace?: string;
            /** @description The id of the checkpoint that it came from. */
            parentId?: string | null;
            /**
             * @description Whether it replaces a checkpoint with the same id; otherwise other content under the same id is a conflict.
             * @default false
             */
            replace?: boolean;
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        NewEntryRequest: {
            /** @description The text. */
            content?: string;
            /**
             * @description Whether its vector is computed while the caller waits, so that it is found by similarity.
             * @default false
             */
            embed?: boolean;
            /** @description Its vector, if the caller has one. */
            embedding?: number[] | null;
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /** @description Its id. An entry with the same id is replaced. Default: a new one. */
            id?: string | null;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /**
             * Format: double
             * @description The importance, 0 to 1. Default: estimated from the text.
             */
            importance?: number | null;
            /**
             * @description Further fields, by name.
             * @default {}
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Format: int64
             * @description Lifetime of the session from now on, in seconds. Default: as configured.
             */
            ttlSeconds?: number | null;
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        NewFactRequest: {
            /**
             * Format: double
             * @description The confidence, 0 to 1. Default: 1.
             */
            confidence?: number | null;
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /** @description The category of the fact. Default: `fact`. */
            factType?: string | null;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            layer?: components["schemas"]["Layer"] | null;
            /**
             * @description Anything else, by name; null takes a field away.
             * @default {}
             */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description The object. */
            object?: string;
            /** @description Which side of it. */
            predicate?: string;
            /**
             * @description The memories that it was learned from, all of one scope.
             * @default []
             */
            sources?: components["schemas"]["MemoryRef"][];
            /** @description What it is about. */
            subject?: string;
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        NewMemoryRequest: {
            accessPolicy?: components["schemas"]["AccessPolicy"] | null;
            /** @description The person or agent that said or wrote it. */
            actorId?: string | null;
            /**
             * @description Whether it is added without comparing it with known memories: it neither repeats nor replaces any.
             * @default false
             */
            asIs?: boolean;
            /** @description A label from the categories configuration. */
            category?: string | null;
            /**
             * Format: double
             * @description The confidence, 0 to 1. Default: 1.
             */
            confidence?: number | null;
            /** @description The text. */
            content: string;
            /**
             * Format: double
             * @description How fast the confidence decays, 0 to 1. Default: by its kind.
             */
            decayRate?: number | null;
            durability?: components["schemas"]["Durability"] | null;
            /**
             * @description Its vector by the embedding model of this server, which is then not computed. Default: computed. It is ignored if
             *     something in the text was masked.
             */
            embedding?: number[] | null;
            /** @description The name of the model that made `embedding`. It must be the model of this server. Default: not checked. */
            embeddingModel?: string | null;
            /**
             * Format: date-time
             * @description When it happened: an instant, or a day.
             */
            eventTime?: string | null;
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * Format: date-time
             * @description The instant, or day, from which it is not returned any more and may be removed. Default: never.
             */
            expiresAt?: string | null;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /**
             * Format: double
             * @description The importance, 0 to 1. Default: estimated from the text.
             */
            importance?: number | null;
            /** @description The kind. Default: chosen by the text. */
            kind?: string | null;
            knowledgePointer?: components["schemas"]["KnowledgePointer"] | null;
            layer?: components["schemas"]["Layer"] | null;
            /**
             * @description Further fields, by name.
             * @default {}
             */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * @description Whether it is kept whatever its age. Default: false.
             * @default false
             */
            pinned?: boolean;
            /**
             * Format: double
             * @description The relevance from which it begins to decay, 0 to 1. Default: 1.
             */
            relevance?: number | null;
            /** @description The role of the speaker: `user`, `assistant`, `tool` or `system`. */
            role?: string | null;
            /** @description The agent run that wrote it. */
            runId?: string | null;
            /**
             * Format: date-time
             * @description When it was said or written: an instant, or a day. Default: now.
             */
            saidAt?: string | null;
            source?: components["schemas"]["Source"] | null;
            /**
             * @description Labels that the caller chooses.
             * @default []
             */
            tags?: string[];
            /** @description The conversation that it belongs to. */
            threadId?: string | null;
            /**
             * Format: date-time
             * @description The first instant, or day, at which it holds. Default: no limit.
             */
            validFrom?: string | null;
            /**
             * Format: date-time
             * @description The first instant, or day, at which it no longer holds. Default: no limit.
             */
            validUntil?: string | null;
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        NewMessageRequest: {
            /** @description The person or agent that said it. */
            actorId?: string | null;
            /** @description The text. */
            content?: string;
            /**
             * Format: date-time
             * @description When it was said: an instant, or a day. Default: now.
             */
            createdAt?: string | null;
            /**
             * @description Whether its vector is computed while the caller waits, so that it is found by similarity.
             * @default false
             */
            embed?: boolean;
            /** @description Its vector, if the caller has one. */
            embedding?: number[] | null;
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /**
             * @description Further fields, by name.
             * @default {}
             */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description The role: `user`, `assistant`, `tool` or `system`. */
            role?: string | null;
            /** @description The thread. Default: the session, or the agent. */
            threadId?: string | null;
        };
        /** @description A new pool. */
        NewPool: {
            /** @description The ids of the agents that are members from the start, at most 1,000. */
            agentIds?: string[];
            /** @description The display name. Default: the id. */
            name?: string | null;
            /** @description The id of the pool, a URL-safe name. */
            poolId: string;
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        NewToolResultRequest: {
            /** @description The id of the tool call. A second result of the same call replaces the first. */
            callId?: string;
            /** @description The result: text, or any JSON. */
            content?: unknown;
            /**
             * @description Whether its vector is computed while the caller waits, so that it is found by similarity.
             * @default false
             */
            embed?: boolean;
            /** @description Its vector, if the caller has one. */
            embedding?: number[] | null;
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /** @description The name of the tool. */
            tool?: string | null;
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        NewWebhookRequest: {
            /** @description Events, for example `ADD` or `UPDATE`. */
            events?: string[];
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /** @description Kinds of the memories that events are about. */
            kind?: string[];
            /** @description Layers of the memories that events are about. */
            layer?: components["schemas"]["Layer"][];
            /** @description The secret that deliveries are signed with: 16 to 256 visible ASCII characters. Default: one is made. */
            secret?: string;
            /** @description Where deliveries are sent: an `http` or `https` address that is public, unless `webhooks.allow_private` is set. */
            url: string;
        };
        /** @description A memory that was said later and may contradict another. */
        NewerStatement: {
            /** @description Its id. */
            id: components["schemas"]["MemoryId"];
            /**
             * Format: date-time
             * @description When it was said.
             */
            saidAt: string;
            /** @description Its rendered text. */
            text: string;
        };
        /** @description The number of events of one sort in one bucket. */
        OperationCount: {
            /**
             * Format: int64
             * @description How often it happened.
             */
            count: number;
            /** @description The event, in capitals as in the history, for example `ADD`. */
            event: string;
            /** @description The part of Loci that made the change; empty if unknown. */
            node: string;
            /**
             * Format: date-time
             * @description The start of the bucket.
             */
            start: string;
        };
        /** @description What was done, counted. */
        Operations: {
            /**
             * Format: date-time
             * @description The start of what was counted.
             */
            after: string;
            /**
             * Format: date-time
             * @description The end of what was counted.
             */
            before: string;
            /** @description The length of a bucket. */
            bucket: components["schemas"]["Bucket"];
            /** @description The counts, oldest bucket first. A bucket in which nothing happened has none. */
            data: components["schemas"]["OperationCount"][];
        };
        /**
         * @description What a write did, in the words of the ledger's events. Earlier versions wrote the names in lower case.
         * @enum {string}
         */
        Outcome: "ADD" | "NONE" | "UPDATE" | "MERGE" | "SUPERSEDE" | "DELETE" | "RESTORE" | "ERASE";
        /** @description How memories are packed into a text. */
        PackOptions: {
            /**
             * @description Maximum number of tokens of the text, counted with the vocabulary `o200k_base`. Default: 1,000 for a simple
             *     question, 3,000 for a complex one.
             */
            budgetTokens?: number | null;
            /**
             * @description How the text is written.
             * @default markdown
             */
            format?: components["schemas"]["Format"];
            /**
             * @description Whether memories that do not fit are shortened instead of left out.
             * @default false
             */
            summarize?: boolean;
        };
        /** @description Memories packed as text. */
        PackedText: {
            /** @description The memories in the text, in its order. */
            cited: components["schemas"]["MemoryId"][];
            /** @description The memories that did not fit, best first. If a summary was asked for, the text ends with one of them. */
            leftOut: components["schemas"]["MemoryId"][];
            /** @description The cited memories that were shortened. */
            shortened: components["schemas"]["MemoryId"][];
            /** @description The text. */
            text: string;
            /** @description Number of tokens of the text. */
            tokens: number;
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        PendingWritesRequest: {
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /** @description The part of the program. Default: the whole program. */
            namespace?: string;
            /** @description The writes. */
            writes: components["schemas"]["TaskWrite"][];
        };
        /** @description One planned change. */
        PlannedAction: {
            /** @description The object of the action. */
            about: string;
            /** @description The action. */
            action: string;
            /** @description The memory, if the change concerns one. */
            id?: components["schemas"]["MemoryId"];
            /** @description The reason. */
            why: string;
        };
        /** @description A pool of a tenant. */
        Pool: {
            /**
             * Format: date-time
             * @description When it was created.
             */
            createdAt: string;
            /** @description Its display name. */
            name: string;
            /** @description The id of the pool, a URL-safe name. */
            poolId: string;
        };
        /** @description A pool with its members. */
        PoolDetails: {
            /**
             * Format: date-time
             * @description When it was created.
             */
            createdAt: string;
            /** @description The agents that are members, by name. */
            members: components["schemas"]["PoolMember"][];
            /** @description Its display name. */
            name: string;
            /** @description The id of the pool, a URL-safe name. */
            poolId: string;
        };
        /** @description The answer to a write. */
        PoolDetailsWrite: {
            /** @description The resource after the write; null if the caller may not see it or asked for `return=minimal`. */
            data: components["schemas"]["PoolDetails"] | null;
            /** @description Parts of the work that could not be done now, for example `vector`. */
            degraded: string[];
            /** @description Memories only: how durable the write is. */
            durability?: components["schemas"]["Durability"];
            /** @description Memories only: whether a vector was computed for a new memory. */
            embeddingGenerated?: boolean;
            /** @description Memories only: whether a new vector was computed because the text changed. */
            embeddingRegenerated?: boolean;
            /** @description What the write did. */
            event: components["schemas"]["Outcome"];
            /** @description The id of the resource. */
            id: string;
            /** @description The names of the patterns that were masked before anything was stored. */
            redacted: string[];
            /**
             * Format: int64
             * @description The version of the resource after the write; null if it has none.
             */
            version: number | null;
        };
        /** @description A member of a pool. */
        PoolMember: {
            /** @description The slug of the agent. */
            agentId: string;
            /**
             * Format: date-time
             * @description When it joined.
             */
            createdAt: string;
        };
        /** @description One page of a list. */
        PoolMemberPage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["PoolMember"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description One page of a list. */
        PoolPage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["Pool"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description The outcome of a synchronisation. */
        PoolSync: {
            /** @description The agent to which it was brought. */
            agentId: string;
            /**
             * Format: int64
             * @description Memories that the agent did not have.
             */
            created: number;
            /** @description The pool. */
            poolId: string;
            /**
             * Format: int64
             * @description What the agent had already, or had contributed itself.
             */
            unchanged: number;
            /**
             * Format: int64
             * @description Copies of what has changed in the pool since.
             */
            updated: number;
            /** @description The user whom the copies are about. */
            userId: string;
        };
        /** @description What went wrong. */
        Problem: {
            /** @description The public code, such as `MEMORY_NOT_FOUND`. */
            code: string;
            /** @description What went wrong, as a sentence. */
            detail: string;
            /** @description Further data by name, such as the field or the limit. */
            details: Record<string, never>;
            /** @description What to do about it. */
            hint?: string;
            /** @description The id of the request, as in the header `X-Request-ID` and in the server's log. */
            instance?: string;
            /** @description The operation that failed. */
            operation: string;
            /** @description Whether the same call may succeed later. */
            retryable: boolean;
            /**
             * Format: int32
             * @description The HTTP status.
             */
            status: number;
            /** @description The reason phrase of the status. */
            title: string;
            /** @description Always `about:blank`; `code` identifies the failure. */
            type: string;
        };
        /** @description A statement that waits for consent. */
        Proposal: {
            /** @description The field of the user that it reveals; `import` for a memory of a quarantined import. */
            field: string;
            /**
             * Format: date-time
             * @description When it expires. Null for a memory of a quarantined import, which waits until someone decides.
             */
            lapsesAt: string | null;
            /** @description The proposed memory. */
            memory: components["schemas"]["Memory"];
            /** @description Whether a decision is required; otherwise it holds after enough observations. */
            sensitive: boolean;
            /**
             * Format: int32
             * @description Number of observations.
             */
            signals: number;
        };
        /** @description One page of a list. */
        ProposalPage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["Proposal"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description The provenance of a memory. */
        Provenance: {
            /** @description All versions of it, oldest first, including this one. */
            chain: components["schemas"]["Memory"][];
            /** @description Its other links. */
            edges: components["schemas"]["Edge"][];
            /** @description The entities that it mentions. */
            entities: components["schemas"]["Entity"][];
            /** @description Its ledger entries, oldest first. */
            history: components["schemas"]["LedgerEntry"][];
            /** @description The memory. */
            memory: components["schemas"]["Memory"];
            /** @description The later statement that may contradict it. */
            newer?: components["schemas"]["NewerStatement"];
            /** @description The memories that it was learned from. */
            sources: components["schemas"]["Memory"][];
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        PruneThreadRequest: {
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /** @description Number of newest checkpoints that stay in each namespace. */
            keep: number;
        };
        /** @description What was removed. */
        PrunedThread: {
            /**
             * Format: int64
             * @description Number of checkpoints that were removed.
             */
            removedCount: number;
        };
        /** @description Readiness, with each component. Without the credential of an admin, a component has only its status and latency. */
        Readiness: {
            /** @description The components. */
            components: components["schemas"]["ReadinessComponents"];
            /**
             * Format: double
             * @description Time that all components took to answer, in milliseconds.
             */
            latencyMs: number;
            /** @description `unhealthy` if the store fails, `degraded` if another component does. */
            status: components["schemas"]["HealthStatus"];
        };
        /** @description The components of the server. */
        ReadinessComponents: {
            /** @description The store. */
            store: components["schemas"]["ComponentHealth"];
            /** @description What several servers share. Absent if this server is alone. */
            tier?: components["schemas"]["ComponentHealth"];
            /** @description The embedding model and the vector index. */
            vectors: components["schemas"]["VectorHealth"];
        };
        /** @description A question to the memory. */
        Recall: {
            /**
             * Format: int64
             * @description The revision after which changes of the memory are listed at the beginning of the text of `pack` or `window`:
             *     `revision` of an earlier answer. Default: no list of changes.
             */
            afterRevision?: number | null;
            /** @description The conversation whose changes are listed. Needs `afterRevision`. Default: the changes of all. */
            changesThreadId?: string | null;
            /**
             * @description Where the page starts: `nextCursor` of the page before. Default: the first page. The other fields must be the
             *     same for all pages. The pages of one question return at most 1,000 memories. Not with `pack` or `window`.
             */
            cursor?: string | null;
            /**
             * @description Whether each result has `explain`, which says how its score is made up.
             * @default false
             */
            explain?: boolean;
            /** @description The fields of each memory that are returned; `id` always is. Default: all. */
            fields?: components["schemas"]["MemoryField"][] | null;
            filter?: components["schemas"]["MemoryFilter"] | null;
            /**
             * @description Maximum number of memories. Default: the limit of the agent's settings, else 10. With `pack` and without such a
             *     setting: 5 for a simple question and 20 for a complex one; with `window` 10 and 20.
             */
            limit?: number | null;
            /**
             * @description The instant or day that counts as now: for "last week" in the question, for expiry and for recency. Default: the
             *     time of the request.
             */
            now?: ((string | null) | null) | string | null;
            pack?: components["schemas"]["PackOptions"] | null;
            /** @description The question, in plain words. At most 8,192 characters. */
            query: string;
            /**
             * Format: double
             * @description Minimum score of a result. Default: that of the agent's settings, else of the configuration.
             */
            scoreThreshold?: number | null;
            strategy?: components["schemas"]["Strategy"] | null;
            /** @description The conversation that receives the answer. What it repeats of the answer is not learned from it again. */
            threadId?: string | null;
            /**
             * Format: double
             * @description Minimum cosine similarity of what the vector search contributes. 0 returns whatever there is, even if it does not
             *     answer the question. Default: the threshold of the agent's settings, else of the configuration.
             */
            threshold?: number | null;
            window?: components["schemas"]["WindowOptions"] | null;
        };
        /**
         * @description What recall found.
         *
         *     The command line prints the same object, so that callers meet the same names everywhere.
         */
        RecallAnswer: {
            /** @description Whether what is known answers the question. If `no`, there are no results, unless `threshold` is 0. */
            answered: components["schemas"]["Answered"];
            /**
             * Format: double
             * @description How likely the first results answer the question, 0 to 1.
             */
            confidence: number;
            /** @description The memories that were found, the best first. */
            data: components["schemas"]["RecallResult"][];
            /** @description Parts that could not be used: `vector`, `rerank`. */
            degraded: string[];
            /** @description What the question asks for: `why`, `when`, `who`, `what` or `general`. */
            intent: string;
            /** @description The cursor of the next page; null on the last page, and with `pack` or `window`. */
            nextCursor: string | null;
            /** @description The text within the budget, if `pack` was given. */
            pack?: components["schemas"]["RecallPack"];
            /** @description The filled window, if `window` was given. */
            window?: components["schemas"]["RecallWindow"];
        };
        /** @description The answers to several questions. */
        RecallBatchAnswer: {
            /** @description One outcome for each question, in the order of the questions. */
            data: components["schemas"]["RecallOutcome"][];
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        RecallBatchRequest: {
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /** @description The questions, each as for `POST /v1/recall`, without identifiers of its own. */
            queries: components["schemas"]["Recall"][];
        };
        /** @description What became of one question: `answer` or `problem`. */
        RecallOutcome: {
            /** @description The answer, if there is one. */
            answer?: components["schemas"]["RecallAnswer"];
            /** @description The place of the question in the request, from 0. */
            index: number;
            /** @description The error of this query. */
            problem?: components["schemas"]["Problem"];
        };
        /** @description The memories as one text. */
        RecallPack: {
            /** @description Maximum number of tokens that it could have. */
            budgetTokens: number;
            /** @description The memories in the text. */
            cited: components["schemas"]["MemoryId"][];
            /** @description The memories that did not fit, the best first. */
            leftOut: components["schemas"]["MemoryId"][];
            /**
             * Format: int64
             * @description The revision of the memory now, for `afterRevision` of the next question.
             */
            revision: number;
            /** @description The cited memories that were shortened. */
            shortened: components["schemas"]["MemoryId"][];
            /** @description The text, ready for a prompt. */
            text: string;
            /** @description Number of tokens of the text. */
            tokens: number;
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        RecallRequest: {
            /**
             * Format: int64
             * @description The revision after which changes of the memory are listed at the beginning of the text of `pack` or `window`:
             *     `revision` of an earlier answer. Default: no list of changes.
             */
            afterRevision?: number | null;
            /** @description The conversation whose changes are listed. Needs `afterRevision`. Default: the changes of all. */
            changesThreadId?: string | null;
            /**
             * @description Where the page starts: `nextCursor` of the page before. Default: the first page. The other fields must be the
             *     same for all pages. The pages of one question return at most 1,000 memories. Not with `pack` or `window`.
             */
            cursor?: string | null;
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * @description Whether each result has `explain`, which says how its score is made up.
             * @default false
             */
            explain?: boolean;
            /** @description The fields of each memory that are returned; `id` always is. Default: all. */
            fields?: components["schemas"]["MemoryField"][] | null;
            filter?: components["schemas"]["MemoryFilter"] | null;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /**
             * @description Maximum number of memories. Default: the limit of the agent's settings, else 10. With `pack` and without such a
             *     setting: 5 for a simple question and 20 for a complex one; with `window` 10 and 20.
             */
            limit?: number | null;
            /**
             * @description The instant or day that counts as now: for "last week" in the question, for expiry and for recency. Default: the
             *     time of the request.
             */
            now?: ((string | null) | null) | string | null;
            pack?: components["schemas"]["PackOptions"] | null;
            /** @description The question, in plain words. At most 8,192 characters. */
            query: string;
            /**
             * Format: double
             * @description Minimum score of a result. Default: that of the agent's settings, else of the configuration.
             */
            scoreThreshold?: number | null;
            strategy?: components["schemas"]["Strategy"] | null;
            /** @description The conversation that receives the answer. What it repeats of the answer is not learned from it again. */
            threadId?: string | null;
            /**
             * Format: double
             * @description Minimum cosine similarity of what the vector search contributes. 0 returns whatever there is, even if it does not
             *     answer the question. Default: the threshold of the agent's settings, else of the configuration.
             */
            threshold?: number | null;
            window?: components["schemas"]["WindowOptions"] | null;
        };
        /** @description A memory that was found. */
        RecallResult: {
            /** @description How the score is made up, if `explain` was given. */
            explain?: components["schemas"]["Explanation"];
            /** @description The memory. */
            memory: components["schemas"]["RecalledMemory"];
            /** @description What was said later and may contradict the memory. */
            newer?: components["schemas"]["NewerStatement"];
            /**
             * Format: double
             * @description The score by which the results are ordered.
             */
            score: number;
        };
        /** @description A model's window, filled. */
        RecallWindow: {
            /** @description How the window was divided. */
            budgets: components["schemas"]["Budgets"];
            /** @description The memories in the window. */
            memory: components["schemas"]["PackedText"];
            /** @description System prompt, memories, summary of older messages, newer messages, question. */
            messages: components["schemas"]["Message"][];
            /** @description Number of older messages that were left out or summarized. */
            olderTurns: number;
            /**
             * Format: int64
             * @description The revision of the memory now, for `afterRevision` of the next question.
             */
            revision: number;
            /** @description Number of tokens of each part. */
            tokens: components["schemas"]["ContextTokens"];
        };
        /** @description A memory. Only `id` is always there: `fields` chooses which of the others are returned. */
        RecalledMemory: {
            /**
             * Format: int64
             * @description The number of times that recall returned it.
             */
            accessCount?: number;
            /** @description Which callers within the scope may see it. */
            accessPolicy?: components["schemas"]["AccessPolicy"];
            /** @description The person or agent that said or wrote it. */
            actorId?: string;
            /** @description A label from the categories configuration. */
            category?: string;
            /**
             * Format: double
             * @description Confidence that it is true, 0 to 1.
             */
            confidence?: number;
            /** @description The text. */
            content?: string;
            /** @description The hash of the normalised text. */
            contentHash?: string;
            /**
             * Format: date-time
             * @description When it was created, here or in the system that it was imported from.
             */
            createdAt?: string;
            /**
             * Format: double
             * @description Rate at which confidence decays with time since the last access. 0: no decay.
             */
            decayRate?: number;
            /**
             * Format: date-time
             * @description When the event happened.
             */
            eventTime?: string;
            /**
             * Format: date-time
             * @description When it expires. Recall does not return expired memories.
             */
            expiresAt?: string;
            /** @description The id, a UUIDv7: ids sort by time of creation. */
            id: components["schemas"]["MemoryId"];
            /** @description The identifiers of its scope and of its origin. */
            identifiers?: components["schemas"]["Identifiers"];
            /**
             * Format: double
             * @description Importance, 0 to 1.
             */
            importance?: number;
            /**
             * Format: date-time
             * @description When it was imported into this store. Ageing starts from this time.
             */
            importedAt?: string;
            /** @description The kind. */
            kind?: components["schemas"]["Kind"];
            /** @description The knowledge item that it mirrors. */
            knowledgePointer?: components["schemas"]["KnowledgePointer"];
            /**
             * Format: date-time
             * @description When recall last returned it.
             */
            lastAccessedAt?: string;
            /** @description The layer of its scope. */
            layer?: components["schemas"]["Layer"];
            /** @description Further fields, by name. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description A pinned memory is exempt from ageing, expiry clean-up and automatic replacement. */
            pinned?: boolean;
            /**
             * Format: date-time
             * @description When a soft-deleted memory is removed for good, or a proposal lapses.
             */
            purgeAt?: string;
            /**
             * Format: double
             * @description Relevance, 0 to 1, which decays daily if the configuration sets a rate.
             */
            relevance?: number;
            /** @description The role of the speaker: `user`, `assistant`, `tool` or `system`. */
            role?: string;
            /** @description The agent run that wrote it. */
            runId?: string;
            /**
             * Format: date-time
             * @description When it was said or written, if that is known and differs from `createdAt`.
             */
            saidAt?: string;
            /** @description How it was acquired. */
            source?: components["schemas"]["Source"];
            /** @description The state in its life cycle. */
            state?: components["schemas"]["State"];
            /** @description The newer memory that superseded this one. */
            supersededById?: components["schemas"]["MemoryId"];
            /** @description The older memory that this one supersedes. */
            supersedesId?: components["schemas"]["MemoryId"];
            /** @description Labels that the caller chooses. */
            tags?: string[];
            /** @description The conversation that it belongs to. */
            threadId?: string;
            /**
             * Format: int32
             * @description The number of tokens of the text.
             */
            tokens?: number;
            /**
             * Format: date-time
             * @description When it last changed in the store.
             */
            updatedAt?: string;
            /**
             * Format: date-time
             * @description Start of validity: since when the statement is true.
             */
            validFrom?: string;
            /**
             * Format: date-time
             * @description End of validity. Absent: the statement is still true.
             */
            validUntil?: string;
            /**
             * Format: int64
             * @description The version, used as an optimistic lock. It grows by one with every change.
             */
            version?: number;
        };
        /** @description What a re-embedding would do. */
        ReembeddingEstimate: {
            /** @description What a pass would do. */
            estimate: components["schemas"]["Estimate"];
            /** @description The present model. */
            model: string;
        };
        /** @description Which vectors are made and which are dropped. */
        ReembeddingRequest: {
            /**
             * @description Whether the vectors of all other models are dropped afterwards. Default: false.
             * @default false
             */
            dropOthers?: boolean;
            /**
             * @description Whether it is only counted what is to be done. Default: false.
             * @default false
             */
            dryRun?: boolean;
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        RejectConsentRequest: {
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /** @description The reason, for the history. */
            reason?: string | null;
        };
        /** @description A memory that is linked to a result. */
        RelatedMemory: {
            /** @description Its text. */
            content: string;
            /** @description Its id. */
            id: components["schemas"]["MemoryId"];
            /** @description The relation. */
            relation: components["schemas"]["Relation"];
            /**
             * Format: double
             * @description The strength of the link, 0 to 1.
             */
            strength: number;
        };
        /**
         * @description The relation that a link expresses.
         * @enum {string}
         */
        Relation: "temporal" | "causal" | "entity" | "derived_from" | "supersedes" | "related_to" | "may_contradict";
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        ResolutionRequest: {
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /** @description Which of the two holds: the one said later, the one said earlier, or both. */
            keep: components["schemas"]["Keep"];
            /** @description The id of the other memory, or a short form of it. */
            other: string;
        };
        /** @description How a backup is restored. */
        RestoreRequest: {
            /**
             * @description Whether spaces that are not empty are replaced. Default: false; then a restore into one is refused.
             * @default false
             */
            replace?: boolean;
        };
        /**
         * @description What a credential may do besides what its role allows. Admins have all of them.
         * @enum {string}
         */
        Right: "hard_delete" | "erase" | "consent";
        /**
         * @description The role of a caller, from least to most rights.
         * @enum {string}
         */
        Role: "reader" | "writer" | "admin";
        /** @description How a key is rotated. */
        RotateKey: {
            /**
             * Format: int32
             * @description Seconds for which the old key is still accepted.
             * @default 0
             */
            graceSeconds?: number;
        };
        /** @description The jobs that are run. */
        RunJobs: {
            /**
             * @description Any of these kinds. Default: all.
             * @default []
             */
            kind?: components["schemas"]["JobKind"][];
            /**
             * @description Maximum number of jobs.
             * @default 100
             */
            limit?: number;
        };
        /** @description A checkpoint in its JSON form. */
        SavedCheckpoint: {
            /**
             * Format: int64
             * @description How many bytes they are.
             */
            bytes: number;
            /**
             * Format: date-time
             * @description When it was put.
             */
            createdAt: string;
            /** @description JSON as it is, other bytes as base64; absent if they were not asked for. */
            data?: unknown;
            /**
             * @description The label of the serializer that made the data, as it was given. `data` of `json` is JSON, of any other label
             *     base64.
             */
            format: string;
            /** @description Its id within thread and namespace. */
            id: string;
            /** @description The identifiers of its scope. */
            identifiers: components["schemas"]["Identifiers"];
            /** @description The layer of the checkpoint. */
            layer: components["schemas"]["Layer"];
            /** @description Metadata of the program. */
            metadata: {
                [key: string]: unknown;
            };
            /** @description The part of the program; empty: the whole. */
            namespace: string;
            /** @description The checkpoint it came from. */
            parentId: string | null;
            /** @description The thread. */
            threadId: string;
            /** @description What tasks wrote beside it; empty if data were not asked for. */
            writes?: components["schemas"]["SavedWrite"][];
        };
        /** @description One page of a list. */
        SavedCheckpointPage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["SavedCheckpoint"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description The answer to a write. */
        SavedCheckpointWrite: {
            /** @description The resource after the write; null if the caller may not see it or asked for `return=minimal`. */
            data: components["schemas"]["SavedCheckpoint"] | null;
            /** @description Parts of the work that could not be done now, for example `vector`. */
            degraded: string[];
            /** @description Memories only: how durable the write is. */
            durability?: components["schemas"]["Durability"];
            /** @description Memories only: whether a vector was computed for a new memory. */
            embeddingGenerated?: boolean;
            /** @description Memories only: whether a new vector was computed because the text changed. */
            embeddingRegenerated?: boolean;
            /** @description What the write did. */
            event: components["schemas"]["Outcome"];
            /** @description The id of the resource. */
            id: string;
            /** @description The names of the patterns that were masked before anything was stored. */
            redacted: string[];
            /**
             * Format: int64
             * @description The version of the resource after the write; null if it has none.
             */
            version: number | null;
        };
        /** @description A pending write of a task, in its JSON form. */
        SavedWrite: {
            /** @description Where it was written to. */
            channel: string;
            /** @description JSON as it is, other bytes as base64. */
            data: unknown;
            /** @description The label of the serializer that made the data, as it was given. */
            format: string;
            /**
             * Format: int64
             * @description Its place among what the task wrote.
             */
            position: number;
            /** @description The task. */
            taskId: string;
            /** @description Where the task stands in the program. */
            taskPath: string;
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        ScopeRequest: {
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
        };
        /** @description The notes of an agent for itself. */
        Scratchpad: {
            /** @description The whole text; it replaces the text before. */
            text: string;
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        ScratchpadRequest: {
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /** @description The whole text; it replaces the text before. */
            text: string;
        };
        /** @description The answer to a write. */
        ScratchpadWrite: {
            /** @description The resource after the write; null if the caller may not see it or asked for `return=minimal`. */
            data: components["schemas"]["Scratchpad"] | null;
            /** @description Parts of the work that could not be done now, for example `vector`. */
            degraded: string[];
            /** @description Memories only: how durable the write is. */
            durability?: components["schemas"]["Durability"];
            /** @description Memories only: whether a vector was computed for a new memory. */
            embeddingGenerated?: boolean;
            /** @description Memories only: whether a new vector was computed because the text changed. */
            embeddingRegenerated?: boolean;
            /** @description What the write did. */
            event: components["schemas"]["Outcome"];
            /** @description The id of the resource. */
            id: string;
            /** @description The names of the patterns that were masked before anything was stored. */
            redacted: string[];
            /**
             * Format: int64
             * @description The version of the resource after the write; null if it has none.
             */
            version: number | null;
        };
        /** @description What a search found. */
        SearchAnswer: {
            /** @description The results: the most specific layer first, within a layer the most similar first. */
            data: components["schemas"]["SearchHit"][];
            /** @description Parts that could not be used: `vector` if no embedding model is configured or it failed, and keywords were searched instead. */
            degraded: string[];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
            /** @description The layers that were searched. */
            searchedLayers: components["schemas"]["Layer"][];
            /** @description Number of memories above the threshold in all layers. */
            totalCount: number;
        };
        /** @description One result. */
        SearchHit: {
            /** @description The layer it came from. */
            layer: components["schemas"]["Layer"];
            /** @description The memory. */
            memory: components["schemas"]["Memory"];
            /**
             * Format: double
             * @description Its similarity, 0..1.
             */
            score: number;
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        SearchRequest: {
            /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
            cursor?: string | null;
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            filter?: components["schemas"]["MemoryFilter"] | null;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /**
             * @description Maximum number of results. Default: 10.
             * @default 10
             */
            limit?: number | null;
            /** @description What is looked for, in plain words. At most 8,192 characters. */
            query: string;
            /**
             * Format: double
             * @description Minimum cosine similarity. Default: the threshold of the embedding model.
             */
            threshold?: number | null;
        };
        /** @description A conversation of one scope. */
        Session: {
            /**
             * Format: date-time
             * @description When it was last learned from.
             */
            consolidatedAt: string | null;
            consolidatedThrough: components["schemas"]["MemoryId"] | null;
            /**
             * Format: date-time
             * @description When the first turn arrived.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it ended. Null: it is open.
             */
            endedAt: string | null;
            /** @description Whether it has turns that were not learned from. */
            pending: boolean;
            /** @description The scope that it belongs to. */
            scope: string;
            /** @description The id: the session id of its turns, or their thread id if they have no session id. */
            sessionId: string;
            /** @description The thread that it belongs to. */
            threadId: string;
            /**
             * Format: date-time
             * @description When the latest turn arrived.
             */
            updatedAt: string;
        };
        /** @description One page of a list. */
        SessionPage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["Session"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description The answer to a write. */
        SessionWrite: {
            /** @description The resource after the write; null if the caller may not see it or asked for `return=minimal`. */
            data: components["schemas"]["Session"] | null;
            /** @description Parts of the work that could not be done now, for example `vector`. */
            degraded: string[];
            /** @description Memories only: how durable the write is. */
            durability?: components["schemas"]["Durability"];
            /** @description Memories only: whether a vector was computed for a new memory. */
            embeddingGenerated?: boolean;
            /** @description Memories only: whether a new vector was computed because the text changed. */
            embeddingRegenerated?: boolean;
            /** @description What the write did. */
            event: components["schemas"]["Outcome"];
            /** @description The id of the resource. */
            id: string;
            /** @description The names of the patterns that were masked before anything was stored. */
            redacted: string[];
            /**
             * Format: int64
             * @description The version of the resource after the write; null if it has none.
             */
            version: number | null;
        };
        /** @description How a memory was acquired. */
        Source: {
            /** @description A reference to the origin, such as a message id or a tool call id. */
            reference?: string | null;
            /** @description The role of the person or program that it came from. */
            role?: string | null;
            /** @description The type: `conversation, tool_result, reflection, distillation, knowledge_sync, manual, import, …` */
            type: string;
        };
        /**
         * @description The state of a memory in its life cycle.
         * @enum {string}
         */
        State: "active" | "decayed" | "archived" | "soft_deleted" | "proposed";
        /** @description Counts of what the caller may see. */
        Statistics: {
            /** @description Memories by kind. */
            byKind: {
                [key: string]: number;
            };
            /** @description Memories by layer. */
            byLayer: {
                [key: string]: number;
            };
            /** @description Memories by state. */
            byState: {
                [key: string]: number;
            };
            /**
             * Format: int64
             * @description Bytes on disk; 0 unless the caller may read the whole tenant.
             */
            bytes: number;
            /**
             * Format: int64
             * @description Bytes of the texts of the visible memories.
             */
            contentBytes: number;
            /** @description Edges by relation. */
            edges: {
                [key: string]: number;
            };
            /**
             * Format: int64
             * @description Number of entities that a visible memory mentions. United ones count once.
             */
            entities: number;
            /** @description Jobs by state; empty unless the caller may read the whole tenant. */
            jobs: {
                [key: string]: number;
            };
            /** @description What was learned from sessions; only for callers who see the whole tenant. */
            learned?: components["schemas"]["LearningStats"];
            /**
             * Format: int64
             * @description Number of ledger entries about visible memories; all of them if the caller may read the whole tenant.
             */
            ledger: number;
            /** @description When each step of maintenance was last done, by its name. */
            maintained: {
                [key: string]: string;
            };
            /**
             * Format: int64
             * @description Number of memories in any state.
             */
            memories: number;
            /**
             * Format: int64
             * @description Number of active or decayed memories without a link and without a mention of an entity.
             */
            orphans: number;
            /**
             * Format: int64
             * @description Number of spaces.
             */
            spaces: number;
            /** @description Vectors by model. */
            vectors: {
                [key: string]: number;
            };
            /**
             * Format: int64
             * @description Number of active or decayed memories without a vector.
             */
            withoutVector: number;
        };
        /**
         * @description One step of a run.
         * @enum {string}
         */
        Step: "consolidate" | "decay" | "expire" | "ttl" | "consent" | "sessions" | "caps" | "purge" | "dedup" | "enrich" | "causal" | "insight" | "summarize" | "collapse" | "compact";
        /** @description What one step did, or would do. */
        StepReport: {
            /**
             * Format: int64
             * @description Number of memories of which only the scores changed.
             */
            aged: number;
            /**
             * Format: int64
             * @description Number of changes.
             */
            changes: number;
            /** @description The first changes. */
            planned: components["schemas"]["PlannedAction"][];
            /** @description Errors of the step. */
            problem?: string;
            /** @description The step. */
            step: components["schemas"]["Step"];
        };
        /**
         * @description Which lanes are searched, and how the results are ordered.
         * @enum {string}
         */
        Strategy: "hybrid" | "semantic" | "lexical" | "recency" | "importance" | "rrf";
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        SummarizeRequest: {
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            filter?: components["schemas"]["MemoryFilter"] | null;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /** @description The session whose turns are summarized. Default: memories, the newest last. */
            sessionId?: string | null;
            strategy?: components["schemas"]["SummaryStrategy"] | null;
            /** @description Maximum number of tokens of the summary. Default: `summarization.target_tokens` of the configuration. */
            targetTokens?: number | null;
        };
        /** @description What texts say in few words. */
        Summary: {
            /** @description How it was made. */
            strategy: components["schemas"]["SummaryStrategy"];
            /** @description The summary. */
            text: string;
            /** @description How many the summary has. */
            tokensAfter: number;
            /** @description How many tokens the texts have. */
            tokensBefore: number;
            /** @description How many fewer that are. */
            tokensSaved: number;
            /** @description Whether any of it was written by a model. */
            usedLlm: boolean;
        };
        /**
         * @description How texts become a summary.
         * @enum {string}
         */
        SummaryStrategy: "simple" | "hierarchical" | "extractive" | "map_reduce";
        /** @description Long work, and how far it is. */
        Task: {
            /**
             * Format: date-time
             * @description When it was started.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it ended; null while it runs.
             */
            endedAt: string | null;
            error: components["schemas"]["Problem"] | null;
            /** @description The id of the task. */
            id: string;
            /** @description What it does. */
            kind: components["schemas"]["TaskKind"];
            /** @description How far it is. */
            progress: components["schemas"]["TaskProgress"];
            /** @description What it did, once it has succeeded. */
            result: Record<string, never> | null;
            /** @description How it stands. */
            status: components["schemas"]["TaskStatus"];
            /**
             * Format: date-time
             * @description When it last changed.
             */
            updatedAt: string;
        };
        /**
         * @description What a task does.
         * @enum {string}
         */
        TaskKind: "backup" | "verification" | "restore" | "erasure" | "reembedding" | "tenant_removal";
        /** @description One page of a list. */
        TaskPage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["Task"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description How far a task is. */
        TaskProgress: {
            /**
             * Format: int64
             * @description Number of units that are done.
             */
            done: number;
            /**
             * Format: int64
             * @description Number of units in all; null if that is not known.
             */
            total: number | null;
            /** @description The unit, for example `rows`. */
            unit: string;
        };
        /**
         * @description How a task stands.
         * @enum {string}
         */
        TaskStatus: "running" | "succeeded" | "failed" | "cancelled";
        /** @description A value that a task wrote. */
        TaskWrite: {
            /** @description The channel that was written to. */
            channel: string;
            /** @description JSON as it is, or base64 for any other format. */
            data: unknown;
            /**
             * @description The label of the serializer that made the data, as for a checkpoint.
             * @default json
             */
            format?: string;
            /**
             * Format: int64
             * @description The position among the writes of the task; the same position again is replaced. Special writes have negative ones.
             */
            position: number;
            /** @description The id of the task. */
            taskId: string;
            /** @description The path of the task in the program. */
            taskPath?: string;
        };
        /** @description A tenant. */
        TenantRecord: {
            /** @description The name of the tenant. */
            tenant: string;
        };
        /** @description One page of a list. */
        TenantRecordPage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["TenantRecord"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description A tenant to be created. */
        TenantRequest: {
            /**
             * @description The name of its first key. Default: `first admin`.
             * @default first admin
             */
            keyName?: string;
            /** @description The name of the tenant, which is safe in URLs. */
            tenant: string;
        };
        /** @description What a tool answered. */
        ToolResult: {
            /** @description The call that asked for it. */
            callId: string;
            /** @description The answer. */
            content: unknown;
            /**
             * Format: date-time
             * @description When it came.
             */
            createdAt: string;
            /** @description The tool. */
            tool?: string;
        };
        /** @description The answer to a write. */
        ToolResultWrite: {
            /** @description The resource after the write; null if the caller may not see it or asked for `return=minimal`. */
            data: components["schemas"]["ToolResult"] | null;
            /** @description Parts of the work that could not be done now, for example `vector`. */
            degraded: string[];
            /** @description Memories only: how durable the write is. */
            durability?: components["schemas"]["Durability"];
            /** @description Memories only: whether a vector was computed for a new memory. */
            embeddingGenerated?: boolean;
            /** @description Memories only: whether a new vector was computed because the text changed. */
            embeddingRegenerated?: boolean;
            /** @description What the write did. */
            event: components["schemas"]["Outcome"];
            /** @description The id of the resource. */
            id: string;
            /** @description The names of the patterns that were masked before anything was stored. */
            redacted: string[];
            /**
             * Format: int64
             * @description The version of the resource after the write; null if it has none.
             */
            version: number | null;
        };
        /** @description One turn of a conversation. */
        Turn: {
            /** @description The person or agent that said it. */
            actorId?: string | null;
            /** @description The text. */
            content?: string;
            /**
             * Format: date-time
             * @description When it was said: an instant, or a day.
             */
            eventTime?: string | null;
            layer?: components["schemas"]["Layer"] | null;
            /**
             * @description Further fields, by name.
             * @default {}
             */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description The id of the message. */
            reference?: string | null;
            /**
             * @description The role: `user`, `assistant`, `tool` or `system`.
             * @enum {string|null}
             */
            role?: "user" | "assistant" | "tool" | "system" | "human" | "ai" | "agent" | "function" | "developer" | null;
            /** @description The thread. */
            threadId?: string;
        };
        /** @description The result of one turn. */
        TurnWrites: {
            /** @description The position of the turn in the request, from 0. */
            index: number;
            /** @description The write of each memory that was made of the turn. A turn that is too long for one memory has several. */
            writes: components["schemas"]["MemoryWrite"][];
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        TurnsRequest: {
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /** @description The turns, oldest first. */
            turns: components["schemas"]["Turn"][];
        };
        /** @description The result of an undo. */
        UndoOutcome: {
            /** @description What was done, in words. */
            done: string;
            /** @description The event of the entry. */
            event: string;
            memoryId: components["schemas"]["MemoryId"] | null;
            /**
             * Format: int64
             * @description The number of the ledger entry.
             */
            sequence: number;
        };
        /** @description What a tenant uses. */
        Usage: {
            /**
             * Format: int64
             * @description Bytes on disk; 0 if the store does not know.
             */
            bytes: number;
            /**
             * Format: int64
             * @description Number of keys that are neither revoked nor expired.
             */
            keys: number;
            /**
             * Format: int64
             * @description Number of memories in any state.
             */
            memories: number;
            /**
             * Format: int64
             * @description Number of requests to this server since it was started, without those that were refused for lack of a credential.
             */
            requests: number;
            /**
             * Format: date-time
             * @description When this server was started.
             */
            requestsSince: string;
            /**
             * Format: int64
             * @description Number of spaces.
             */
            spaces: number;
            /** @description The name of the tenant. */
            tenant: string;
        };
        /** @description One page of a list. */
        UsagePage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["Usage"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description Counts of a user's data in a space. */
        UserData: {
            /**
             * Format: int64
             * @description Checkpoints of the user's scopes.
             */
            checkpoints: number;
            /**
             * Format: int64
             * @description Edges from these memories.
             */
            edges: number;
            /**
             * Format: int64
             * @description Entities of the user's scopes.
             */
            entities: number;
            /**
             * Format: int64
             * @description Facts of the user's scopes.
             */
            facts: number;
            /**
             * Format: int64
             * @description Jobs about these memories and scopes.
             */
            jobs: number;
            /**
             * Format: int64
             * @description Ledger entries of the user's scopes, or by the user as actor: the greater of the two numbers.
             */
            lines: number;
            /**
             * Format: int64
             * @description Memories of the user's scopes, and memories of other scopes that name them as user or actor.
             */
            memories: number;
            /**
             * Format: int64
             * @description Notes of the user's scopes.
             */
            notes: number;
            /**
             * Format: int64
             * @description Sessions of the user's scopes.
             */
            sessions: number;
            /**
             * Format: int64
             * @description Vectors of these memories.
             */
            vectors: number;
        };
        /** @description The condition of the embedding model and of the vector index. */
        VectorHealth: {
            /** @description The number of dimensions of its vectors. Absent until they are known. */
            dimensions?: number;
            /** @description The index outside the store. Absent if there is none, or while it does not answer. */
            index?: components["schemas"]["VectorIndexHealth"];
            /** @description What is wrong. Absent if nothing is. */
            message?: string;
            /** @description The embedding model. Absent if there is none. */
            model?: string;
            /** @description Whether memories are found by vectors. */
            status: components["schemas"]["HealthStatus"];
        };
        /** @description The condition of an index outside the store. */
        VectorIndexHealth: {
            /**
             * Format: int64
             * @description Number of ledger entries that it has not applied yet.
             */
            behind: number;
            /** @description The product, for example `qdrant`. */
            name: string;
            /** @description The version of the product. Absent while it does not answer. */
            version?: string;
        };
        /** @description A memory whose confidence is low. */
        WeakMemory: {
            /**
             * Format: double
             * @description The confidence today, 0 to 1, after decay.
             */
            confidenceNow: number;
            /**
             * Format: date-time
             * @description When it will be removed if it is neither used nor confirmed; null if never.
             */
            goneAt: string | null;
            /** @description The memory. */
            memory: components["schemas"]["Memory"];
        };
        /** @description One page of a list. */
        WeakMemoryPage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["WeakMemory"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description A webhook. */
        Webhook: {
            /**
             * Format: date-time
             * @description When it was created.
             */
            createdAt: string;
            /** @description The events; empty for all. */
            events: string[];
            /** @description The id of the webhook. */
            id: string;
            /** @description The scope that it follows; empty for the whole tenant. */
            identifiers: components["schemas"]["Identifiers"];
            /** @description The kinds; empty for all. */
            kind: string[];
            /**
             * Format: date-time
             * @description When a delivery last succeeded; null if none has.
             */
            lastDeliveredAt: string | null;
            /** @description Why the last delivery failed; null if it succeeded. */
            lastError: string | null;
            /** @description The layers; empty for all. */
            layer: components["schemas"]["Layer"][];
            /**
             * Format: date-time
             * @description When the next delivery is tried after a failure.
             */
            nextAttemptAt: string | null;
            /**
             * Format: int64
             * @description Number of events that wait to be delivered, at most 1,000. Null in lists, and if its key is revoked or expired.
             */
            pending: number | null;
            /** @description The secret that deliveries are signed with. Only in the answer that creates the webhook. */
            secret?: string;
            /** @description Whether it is delivered. */
            status: components["schemas"]["WebhookStatus"];
            /** @description Where deliveries are sent. */
            url: string;
        };
        /** @description One page of a list. */
        WebhookPage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["Webhook"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /**
         * @description Whether a webhook is delivered.
         * @enum {string}
         */
        WebhookStatus: "active" | "failing" | "paused";
        /** @description The answer to a write. */
        WebhookWrite: {
            /** @description The resource after the write; null if the caller may not see it or asked for `return=minimal`. */
            data: components["schemas"]["Webhook"] | null;
            /** @description Parts of the work that could not be done now, for example `vector`. */
            degraded: string[];
            /** @description Memories only: how durable the write is. */
            durability?: components["schemas"]["Durability"];
            /** @description Memories only: whether a vector was computed for a new memory. */
            embeddingGenerated?: boolean;
            /** @description Memories only: whether a new vector was computed because the text changed. */
            embeddingRegenerated?: boolean;
            /** @description What the write did. */
            event: components["schemas"]["Outcome"];
            /** @description The id of the resource. */
            id: string;
            /** @description The names of the patterns that were masked before anything was stored. */
            redacted: string[];
            /**
             * Format: int64
             * @description The version of the resource after the write; null if it has none.
             */
            version: number | null;
        };
        /** @description The weights of the score; they sum to 1. */
        Weights: {
            /**
             * Format: double
             * @description Of recency.
             */
            recency: number;
            /**
             * Format: double
             * @description Of relevance.
             */
            similarity: number;
            /**
             * Format: double
             * @description Of utility.
             */
            utility: number;
        };
        /** @description The credential of a request and its permissions. */
        WhoAmI: {
            /** @description The identifiers that it may name; empty: any. */
            bounds: components["schemas"]["Bounds"];
            /** @description The categories that it may see; null: all. */
            categories: string[] | null;
            /** @description The name of the credential; `open` if the server asks for none. */
            credential: string;
            /** @description Whether the server asks for no credential. */
            open: boolean;
            /** @description What it may do besides what its role allows. */
            rights: components["schemas"]["Right"][];
            /** @description The role. */
            role: components["schemas"]["Role"];
            /** @description The tenant. */
            tenant: string;
        };
        /** @description A model's window, and what else goes into it. */
        WindowOptions: {
            /**
             * @description How the memories are written.
             * @default markdown
             */
            format?: components["schemas"]["Format"];
            /**
             * @description The conversation so far, the oldest message first. The newest that fit are kept.
             * @default []
             */
            history?: components["schemas"]["Message"][];
            /**
             * @description The part of the window for memories, in per cent.
             * @default 70
             */
            memoryPercent?: number | null;
            /**
             * @description Whether memories and messages that do not fit are summarized instead of left out.
             * @default false
             */
            summarize?: boolean;
            /** @description The system prompt. It is never cut. */
            system?: string;
            /**
             * @description The size of the window in tokens, including the room for the model's answer.
             * @default 128000
             */
            tokens?: number | null;
            /**
             * @description Descriptions of the model's tools. They are sent beside the messages, but take their part of the window.
             * @default []
             */
            tools?: string[];
        };
        /** @description An entry that matches the query. */
        WorkingHit: {
            /** @description How it was found. */
            foundBy: components["schemas"]["FoundBy"];
            /** @description The message, if it is one. */
            message?: components["schemas"]["WorkingMessage"];
            /**
             * Format: double
             * @description The similarity: a cosine, or a share of words.
             */
            score: number;
            /** @description The tool result, if it is one. */
            toolResult?: components["schemas"]["ToolResult"];
        };
        /** @description One page of a list. */
        WorkingHitPage: {
            /** @description The entries of this page, in the order of the list. */
            data: components["schemas"]["WorkingHit"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description A message that an agent has before it. */
        WorkingMessage: {
            /** @description Who said it. */
            actorId?: string;
            /** @description The text. */
            content: string;
            /**
             * Format: date-time
             * @description When it was said.
             */
            createdAt: string;
            /**
             * Format: uuid
             * @description Its id, which becomes the reference of its turn.
             */
            id: string;
            /** @description Anything else, by name. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description In which role it was said. */
            role?: string;
            /** @description The thread. Default: the session, or the agent. */
            threadId?: string;
        };
        /** @description A JSON body whose fields stand beside `identifiers`, which name the scope of the request. */
        WorkingSearchRequest: {
            /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
            cursor?: string | null;
            /** @description The vector of the query. Default: the model computes it. */
            embedding?: number[] | null;
            /**
             * @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that.
             * @default false
             */
            everyone?: boolean;
            /**
             * @description The scope of the request. Identifiers that are left out are taken from the credential where it has only one value. A
             *     request that names no scope is refused.
             */
            identifiers?: components["schemas"]["Identifiers"];
            /**
             * @description Maximum number of results.
             * @default 50
             */
            limit?: number | null;
            /** @description The query. */
            query: string;
        };
        /** @description The content of working memory. */
        WorkingView: {
            /** @description Parts of working memory that failed. */
            degraded?: string[];
            /** @description The messages that were not stored as turns yet, oldest first. */
            messages: components["schemas"]["WorkingMessage"][];
            /** @description The scratchpad of the agent. */
            scratchpad: string;
            /**
             * Format: int64
             * @description Number of tokens of the messages.
             */
            tokens: number;
            /** @description The tool results, by call. */
            toolResults: components["schemas"]["ToolResult"][];
        };
    };
    responses: never;
    parameters: {
        /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
        "Idempotency-Key": string;
        /** @description `return=minimal` leaves `data` out of the answer. */
        Prefer: string;
        /** @description The agent, by its URL-safe slug. */
        agentId: string;
        /** @description The agent. */
        agent_id: string;
        /** @description The company. */
        companyId: string;
        /** @description The company. */
        company_id: string;
        /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
        cursor: string;
        /** @description Any of these events. */
        event: ("ADD" | "UPDATE" | "DELETE" | "MERGE" | "LINK" | "UNLINK" | "TTL" | "RESTORE" | "SUPERSEDE" | "ACCESS_POLICY" | "CONSENT" | "ERASE" | "EMBED" | "ENTITY" | "FACT" | "LEARN")[];
        /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
        everyone: boolean;
        /** @description The id of the memory */
        id: string;
        /** @description Maximum number of entries of the page. */
        limit: number;
        /** @description The name of the backup */
        name: string;
        /** @description The part of the program. Default: the whole program. */
        namespace: string;
        /** @description The organization. */
        orgId: string;
        /** @description The organization. */
        org_id: string;
        /** @description The pool, by its URL-safe slug. */
        poolId: string;
        /** @description The pool. */
        pool_id: string;
        /** @description The project. */
        projectId: string;
        /** @description The project. */
        project_id: string;
        /** @description The session. */
        sessionId: string;
        /** @description The session. */
        session_id: string;
        /** @description The team. */
        teamId: string;
        /** @description The team. */
        team_id: string;
        /**
         * @description The tenant of the keys. Only an admin of the tenant `default` may name another one than their own. Default: the
         *     tenant of the credential.
         */
        tenant: string;
        /** @description The thread */
        threadId: string;
        /** @description The user. */
        userId: string;
        /** @description The user. */
        user_id: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process is alive */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Liveness"];
                };
            };
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The server can work, perhaps with a component missing */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
        };
    };
    listBackups: {
        parameters: {
            query?: {
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of backups */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackupPage"];
                };
            };
        };
    };
    createBackup: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["BackupRequest"];
            };
        };
        responses: {
            /** @description The task that makes the backup */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    downloadBackup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of the backup */
                name: components["parameters"]["name"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
        };
    };
    deleteBackup: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The name of the backup */
                name: components["parameters"]["name"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The backup is removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    restoreBackup: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The name of the backup */
                name: components["parameters"]["name"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "replace": true
                 *     }
                 */
                "application/json": components["schemas"]["RestoreRequest"];
            };
        };
        responses: {
            /** @description The task that restores the backup */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    verifyBackup: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The name of the backup */
                name: components["parameters"]["name"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The task that verifies the backup */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    eraseUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "dryRun": true,
                 *       "userId": "ann"
                 *     }
                 */
                "application/json": components["schemas"]["ErasureRequest"];
            };
        };
        responses: {
            /** @description What would be erased */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Erasure"];
                };
            };
            /** @description The task that erases; its result is an `Erasure` */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    reembedMemories: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "dryRun": true
                 *     }
                 */
                "application/json": components["schemas"]["ReembeddingRequest"];
            };
        };
        responses: {
            /** @description What a re-embedding would do */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReembeddingEstimate"];
                };
            };
            /** @description The task that computes the vectors */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    listTasks: {
        parameters: {
            query?: {
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of tasks */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskPage"];
                };
            };
        };
    };
    getTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the task */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The task */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    cancelTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The id of the task */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The task, which was asked to stop or has ended */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    followTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the task */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    listTenants: {
        parameters: {
            query?: {
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of tenants */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantRecordPage"];
                };
            };
        };
    };
    createTenant: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "tenant": "acme"
                 *     }
                 */
                "application/json": components["schemas"]["TenantRequest"];
            };
        };
        responses: {
            /** @description The tenant and its first key */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedTenantWrite"];
                };
            };
        };
    };
    getTenant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of the tenant */
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What the tenant uses */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Usage"];
                };
            };
        };
    };
    deleteTenant: {
        parameters: {
            query: {
                /** @description The name of the tenant once more. */
                confirm: string;
            };
            header?: never;
            path: {
                /** @description The name of the tenant */
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The task that removes the tenant */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
        };
    };
    listUsage: {
        parameters: {
            query?: {
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of tenants with what they use */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsagePage"];
                };
            };
        };
    };
    listAgents: {
        parameters: {
            query?: {
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of agents */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentPage"];
                };
            };
        };
    };
    createAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "agentId": "planner",
                 *       "settings": {
                 *         "limit": 5
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["NewAgent"];
            };
        };
        responses: {
            /** @description The agent was registered; its settings are replaced */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentWrite"];
                };
            };
            /** @description The agent is new */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentWrite"];
                };
            };
        };
    };
    getAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agent */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
        };
    };
    deleteAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The agent */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agent is removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getConfig: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The settings */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
        };
    };
    listConsents: {
        parameters: {
            query?: {
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of proposals */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProposalPage"];
                };
            };
        };
    };
    getConsent: {
        parameters: {
            query?: {
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path: {
                /** @description The id of the proposal, which is that of its memory */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The proposal */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Proposal"];
                };
            };
        };
    };
    acceptConsent: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The id of the proposal */
                id: string;
            };
            cookie?: never;
        };
        /** @description Optional */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ScopeRequest"];
            };
        };
        responses: {
            /** @description The memory is active */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryWrite"];
                };
            };
            /** @description The memory is active and supersedes another */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryWrite"];
                };
            };
        };
    };
    rejectConsent: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The id of the proposal */
                id: string;
            };
            cookie?: never;
        };
        /** @description Optional */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RejectConsentRequest"];
            };
        };
        responses: {
            /** @description The proposal is rejected */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryWrite"];
                };
            };
        };
    };
    listEntities: {
        parameters: {
            query?: {
                /**
                 * @description A description of what is looked for, in plain words: the entities nearest in meaning are listed, best first, at
                 *     most 50.
                 */
                query?: string;
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of entities */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityPage"];
                };
            };
        };
    };
    getEntity: {
        parameters: {
            query?: {
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path: {
                /** @description The id, the name or an alias of the entity */
                entity: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entity */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityProfile"];
                };
            };
        };
    };
    mergeEntities: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The id, the name or an alias of the entity that stays */
                entity: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "from": "Bob",
                 *       "identifiers": {
                 *         "userId": "ann"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["EntityMergeRequest"];
            };
        };
        responses: {
            /** @description The entity that stays */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityWrite"];
                };
            };
        };
    };
    splitEntity: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The id, the name or an alias of the entity that stayed */
                entity: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50",
                 *       "identifiers": {
                 *         "userId": "ann"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["EntitySplitRequest"];
            };
        };
        responses: {
            /** @description The entity that stayed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityWrite"];
                };
            };
        };
    };
    followEvents: {
        parameters: {
            query?: {
                /**
                 * @description Where to start: the place after an earlier event, `all` for the first event, or `now`. Default: now for the
                 *     stream, `all` for the list. The header `Last-Event-ID` of the stream takes precedence.
                 */
                after?: string;
                /** @description Any of these events. */
                event?: components["parameters"]["event"];
                /** @description About this memory. */
                memoryId?: string;
                /** @description In this thread. */
                threadId?: string;
                /** @description About memories of any of these kinds. */
                kind?: string[];
                /** @description About memories in any of these layers. Default: all layers that the identifiers open. */
                layer?: components["schemas"]["Layer"][];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: {
                /** @description The id of the last event that was received; the stream resumes after it */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    exportMemories: {
        parameters: {
            query?: {
                /** @description Only memories in any of these layers. Default: all layers that the identifiers open. */
                layer?: components["schemas"]["Layer"][];
                /** @description Whether memories have their vectors. */
                vectors?: boolean;
                /** @description Whether each memory is followed by its history. An import ignores it. */
                history?: boolean;
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Lines of JSON */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
        };
    };
    listFacts: {
        parameters: {
            query?: {
                /** @description The type of the fact. */
                factType?: string;
                /** @description The subject. */
                subject?: string;
                /** @description The predicate. */
                predicate?: string;
                /** @description The object. */
                object?: string;
                /** @description Whether facts are included that were learned from memories of which none holds any more. */
                includePast?: boolean;
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of facts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FactPage"];
                };
            };
        };
    };
    stateFact: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "factType": "has_version",
                 *       "identifiers": {
                 *         "userId": "ann"
                 *       },
                 *       "object": "v16",
                 *       "predicate": "version",
                 *       "subject": "Database"
                 *     }
                 */
                "application/json": components["schemas"]["NewFactRequest"];
            };
        };
        responses: {
            /** @description The fact was known */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FactWrite"];
                };
            };
            /** @description The fact is new */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FactWrite"];
                };
            };
        };
    };
    getFact: {
        parameters: {
            query?: {
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path: {
                /** @description The id of the fact */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The fact */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Fact"];
                };
            };
        };
    };
    retractFact: {
        parameters: {
            query?: {
                /** @description The reason, which is recorded in the ledger. */
                reason?: string;
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The id of the fact */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The fact is retracted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    importMemories: {
        parameters: {
            query?: {
                /** @description The system that wrote the file. Default: `auto`. */
                format?: "auto" | "loci" | "mem0" | "chatgpt" | "claude" | "langgraph" | "markdown" | "mcp_memory";
                /** @description Whether something else by the same id is replaced. */
                replace?: boolean;
                /** @description Whether it is only counted what would be imported. */
                dryRun?: boolean;
                /**
                 * @description Whether memories are stored as proposals, which recall does not return until they are accepted under
                 *     `/v1/consents`. They do not lapse. Other lines of an export are refused, and `replace` cannot be combined with it.
                 */
                quarantine?: boolean;
                /** @description Whether the import ends at the first record that cannot be kept. What was imported before stays. */
                strict?: boolean;
                /** @description The name of the file. It is part of what is known of a note, and helps to recognise the format. */
                fileName?: string;
                /** @description When the file was last changed: the time of notes without a date of their own. */
                modifiedAt?: string;
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
                "application/x-ndjson": string;
                "text/markdown": string;
            };
        };
        responses: {
            /** @description How many entries of the file were imported, known or refused */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportReport"];
                };
            };
        };
    };
    listJobs: {
        parameters: {
            query?: {
                /** @description Only jobs in any of these states. Default: all. */
                state?: ("waiting" | "running" | "dead")[];
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of jobs */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobRecordPage"];
                };
            };
        };
    };
    runJobs: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RunJobs"];
            };
        };
        responses: {
            /** @description What was done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobRunReport"];
                };
            };
        };
    };
    deleteJob: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The space: `shared`, `users_00` to `users_3f`, `agent_memory_ID` or `pool_ID` */
                space: string;
                /** @description The number of the job */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job is removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    retryJob: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The space: `shared`, `users_00` to `users_3f`, `agent_memory_ID` or `pool_ID` */
                space: string;
                /** @description The number of the job */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job is queued */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listKeys: {
        parameters: {
            query?: {
                /**
                 * @description The tenant of the keys. Only an admin of the tenant `default` may name another one than their own. Default: the
                 *     tenant of the credential.
                 */
                tenant?: components["parameters"]["tenant"];
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of keys */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyPage"];
                };
            };
        };
    };
    createKey: {
        parameters: {
            query?: {
                /**
                 * @description The tenant of the keys. Only an admin of the tenant `default` may name another one than their own. Default: the
                 *     tenant of the credential.
                 */
                tenant?: components["parameters"]["tenant"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "bounds": {
                 *         "agents": [
                 *           "planner"
                 *         ],
                 *         "users": [
                 *           "*"
                 *         ]
                 *       },
                 *       "name": "planner in production",
                 *       "role": "writer"
                 *     }
                 */
                "application/json": components["schemas"]["CreateKey"];
            };
        };
        responses: {
            /** @description The key and its secret */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyWithSecretWrite"];
                };
            };
        };
    };
    getKey: {
        parameters: {
            query?: {
                /**
                 * @description The tenant of the keys. Only an admin of the tenant `default` may name another one than their own. Default: the
                 *     tenant of the credential.
                 */
                tenant?: components["parameters"]["tenant"];
            };
            header?: never;
            path: {
                /** @description The id of the key */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
        };
    };
    revokeKey: {
        parameters: {
            query?: {
                /**
                 * @description The tenant of the keys. Only an admin of the tenant `default` may name another one than their own. Default: the
                 *     tenant of the credential.
                 */
                tenant?: components["parameters"]["tenant"];
            };
            header?: never;
            path: {
                /** @description The id of the key */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key is revoked */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    rotateKey: {
        parameters: {
            query?: {
                /**
                 * @description The tenant of the keys. Only an admin of the tenant `default` may name another one than their own. Default: the
                 *     tenant of the credential.
                 */
                tenant?: components["parameters"]["tenant"];
            };
            header?: never;
            path: {
                /** @description The id of the old key */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateKey"];
            };
        };
        responses: {
            /** @description The new key and its secret */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyWithSecretWrite"];
                };
            };
        };
    };
    listLedger: {
        parameters: {
            query?: {
                /**
                 * @description Where to start: the place after an earlier event, `all` for the first event, or `now`. Default: now for the
                 *     stream, `all` for the list. The header `Last-Event-ID` of the stream takes precedence.
                 */
                after?: string;
                /** @description Any of these events. */
                event?: components["parameters"]["event"];
                /** @description About this memory. */
                memoryId?: string;
                /** @description In this thread. */
                threadId?: string;
                /** @description About memories of any of these kinds. */
                kind?: string[];
                /** @description About memories in any of these layers. Default: all layers that the identifiers open. */
                layer?: components["schemas"]["Layer"][];
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of entries */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LedgerItemPage"];
                };
            };
        };
    };
    undoChange: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The space of the entry, as the history names it */
                space: string;
                /** @description The sequence number of the entry, as the history names it */
                sequence: number;
            };
            cookie?: never;
        };
        /** @description Optional */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ScopeRequest"];
            };
        };
        responses: {
            /** @description What was undone */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UndoOutcome"];
                };
            };
        };
    };
    runMaintenance: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "dryRun": true,
                 *       "only": [
                 *         "decay",
                 *         "ttl"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["Maintenance"];
            };
        };
        responses: {
            /** @description What was done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MaintainReport"];
                };
            };
        };
    };
    listMemories: {
        parameters: {
            query?: {
                /** @description Any of these ids. */
                id?: components["schemas"]["MemoryRef"][];
                /** @description Any of these layers. */
                layer?: components["schemas"]["Layer"][];
                /** @description Any of these kinds. */
                kind?: string[];
                /** @description Any of these categories. */
                category?: string[];
                /** @description At least one of these tags. */
                tags?: string[];
                /** @description Any of these states. Default: `active` and `decayed`. */
                state?: components["schemas"]["State"][];
                /** @description Any of these conversations. */
                threadId?: string[];
                /** @description Any of these agent runs. */
                runId?: string[];
                /** @description Any of these speakers or writers. */
                actorId?: string[];
                /** @description Any of these roles of the speaker. */
                role?: string[];
                /** @description Any of these users among the identifiers of the memory. */
                "filter.userId"?: string[];
                /** @description Any of these agents among the identifiers of the memory. */
                "filter.agentId"?: string[];
                /** @description Any of these sessions among the identifiers of the memory. */
                "filter.sessionId"?: string[];
                /** @description Any of these types of the source, for example `conversation`. */
                sourceType?: string[];
                /** @description Any of these roles of the source. */
                sourceRole?: string[];
                /** @description Any of these access policies. */
                accessPolicy?: components["schemas"]["AccessPolicy"][];
                /** @description Whether it is pinned. */
                pinned?: boolean;
                /** @description Whether it mirrors a knowledge item. */
                hasKnowledgePointer?: boolean;
                /** @description Metadata fields that have exactly these values. As a query parameter, a JSON object. */
                metadata?: string;
                /** @description The least importance. */
                importanceMin?: number;
                /** @description The greatest importance. */
                importanceMax?: number;
                /** @description The least confidence. */
                confidenceMin?: number;
                /** @description The greatest confidence. */
                confidenceMax?: number;
                /** @description It happened at this instant or day, or later. Memories without `eventTime` do not match. */
                eventAfter?: string;
                /** @description It happened before this instant or day. Memories without `eventTime` do not match. */
                eventBefore?: string;
                /** @description It was added at this instant or day, or later. */
                createdAfter?: string;
                /** @description It was added before this instant or day. */
                createdBefore?: string;
                /** @description It was last changed at this instant or day, or later. */
                updatedAfter?: string;
                /** @description It was last changed before this instant or day. */
                updatedBefore?: string;
                /** @description Whether superseded, expired and not yet valid memories are included. */
                superseded?: boolean;
                /** @description Selects what held at this instant or day instead of what holds now. */
                asOf?: string;
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of memories */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryPage"];
                };
            };
        };
    };
    addMemory: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "content": "Ann prefers tea in the morning.",
                 *       "identifiers": {
                 *         "userId": "ann"
                 *       },
                 *       "tags": [
                 *         "drinks"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["NewMemoryRequest"];
            };
        };
        responses: {
            /** @description The memory existed already */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryWrite"];
                };
            };
            /** @description The memory is new */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryWrite"];
                };
            };
            /** @description The memory will be written soon */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryWrite"];
                };
            };
        };
    };
    addMemories: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "identifiers": {
                 *         "userId": "ann"
                 *       },
                 *       "memories": [
                 *         {
                 *           "content": "Ann lives in Graz."
                 *         },
                 *         {
                 *           "content": "Ben plays chess on Fridays.",
                 *           "identifiers": {
                 *             "userId": "ben"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["MemoryBatchRequest"];
            };
        };
        responses: {
            /** @description The result of each memory */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchResult"];
                };
            };
        };
    };
    countMemories: {
        parameters: {
            query?: {
                /** @description Any of these ids. */
                id?: components["schemas"]["MemoryRef"][];
                /** @description Any of these layers. */
                layer?: components["schemas"]["Layer"][];
                /** @description Any of these kinds. */
                kind?: string[];
                /** @description Any of these categories. */
                category?: string[];
                /** @description At least one of these tags. */
                tags?: string[];
                /** @description Any of these states. Default: `active` and `decayed`. */
                state?: components["schemas"]["State"][];
                /** @description Any of these conversations. */
                threadId?: string[];
                /** @description Any of these agent runs. */
                runId?: string[];
                /** @description Any of these speakers or writers. */
                actorId?: string[];
                /** @description Any of these roles of the speaker. */
                role?: string[];
                /** @description Any of these users among the identifiers of the memory. */
                "filter.userId"?: string[];
                /** @description Any of these agents among the identifiers of the memory. */
                "filter.agentId"?: string[];
                /** @description Any of these sessions among the identifiers of the memory. */
                "filter.sessionId"?: string[];
                /** @description Any of these types of the source, for example `conversation`. */
                sourceType?: string[];
                /** @description Any of these roles of the source. */
                sourceRole?: string[];
                /** @description Any of these access policies. */
                accessPolicy?: components["schemas"]["AccessPolicy"][];
                /** @description Whether it is pinned. */
                pinned?: boolean;
                /** @description Whether it mirrors a knowledge item. */
                hasKnowledgePointer?: boolean;
                /** @description Metadata fields that have exactly these values. As a query parameter, a JSON object. */
                metadata?: string;
                /** @description The least importance. */
                importanceMin?: number;
                /** @description The greatest importance. */
                importanceMax?: number;
                /** @description The least confidence. */
                confidenceMin?: number;
                /** @description The greatest confidence. */
                confidenceMax?: number;
                /** @description It happened at this instant or day, or later. Memories without `eventTime` do not match. */
                eventAfter?: string;
                /** @description It happened before this instant or day. Memories without `eventTime` do not match. */
                eventBefore?: string;
                /** @description It was added at this instant or day, or later. */
                createdAfter?: string;
                /** @description It was added before this instant or day. */
                createdBefore?: string;
                /** @description It was last changed at this instant or day, or later. */
                updatedAfter?: string;
                /** @description It was last changed before this instant or day. */
                updatedBefore?: string;
                /** @description Whether superseded, expired and not yet valid memories are included. */
                superseded?: boolean;
                /** @description Selects what held at this instant or day instead of what holds now. */
                asOf?: string;
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The number of memories */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryCount"];
                };
            };
        };
    };
    deleteMemories: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "dryRun": true,
                 *       "filter": {
                 *         "createdBefore": "2026-01-31",
                 *         "tags": [
                 *           "draft"
                 *         ]
                 *       },
                 *       "identifiers": {
                 *         "userId": "ann"
                 *       },
                 *       "reason": "drafts of last year"
                 *     }
                 */
                "application/json": components["schemas"]["FilterDeletionRequest"];
            };
        };
        responses: {
            /** @description What was deleted, or would be */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FilterResult"];
                };
            };
        };
    };
    flushMemories: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every accepted memory is durable */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    searchMemories: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "filter": {
                 *         "tags": [
                 *           "drinks"
                 *         ]
                 *       },
                 *       "identifiers": {
                 *         "userId": "ann"
                 *       },
                 *       "query": "tea"
                 *     }
                 */
                "application/json": components["schemas"]["SearchRequest"];
            };
        };
        responses: {
            /** @description A page of results */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchAnswer"];
                };
            };
        };
    };
    updateMemories: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "changes": {
                 *         "pinned": true
                 *       },
                 *       "dryRun": false,
                 *       "expected": 3,
                 *       "filter": {
                 *         "kind": [
                 *           "preference"
                 *         ]
                 *       },
                 *       "identifiers": {
                 *         "userId": "ann"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["FilterUpdateRequest"];
            };
        };
        responses: {
            /** @description What was changed, or would be */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FilterResult"];
                };
            };
        };
    };
    listWeakMemories: {
        parameters: {
            query?: {
                /** @description Memories with a confidence below this. Default: `lifecycle.decayed_below` of the configuration. */
                below?: number;
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of weak memories */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WeakMemoryPage"];
                };
            };
        };
    };
    getMemory: {
        parameters: {
            query?: {
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path: {
                /** @description The id of the memory */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The memory */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Memory"];
                };
            };
        };
    };
    deleteMemory: {
        parameters: {
            query?: {
                /** @description The reason, which is recorded in the history of the memory. */
                reason?: string;
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: {
                /** @description The ETag that was read, such as `"3"` */
                "If-Match"?: string;
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The id of the memory */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The memory is deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    changeMemory: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag that was read, such as `"3"` */
                "If-Match"?: string;
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The id of the memory */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "identifiers": {
                 *         "userId": "ann"
                 *       },
                 *       "importance": 0.9,
                 *       "metadata": {
                 *         "checked": true
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["MemoryChangesRequest"];
            };
        };
        responses: {
            /** @description The memory is changed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryWrite"];
                };
            };
        };
    };
    listMemoryChain: {
        parameters: {
            query?: {
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path: {
                /** @description The id of the memory */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of versions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryPage"];
                };
            };
        };
    };
    confirmMemory: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The id of the memory */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        /** @description Optional */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ScopeRequest"];
            };
        };
        responses: {
            /** @description The memory is confirmed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryWrite"];
                };
            };
        };
    };
    correctMemory: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The id of the memory that was wrong */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CorrectionRequest"];
            };
        };
        responses: {
            /** @description The memory existed already */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryWrite"];
                };
            };
            /** @description The new memory */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryWrite"];
                };
            };
        };
    };
    listMemoryEdges: {
        parameters: {
            query?: {
                /** @description Any of these relations. Default: all. */
                relation?: components["schemas"]["Relation"][];
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path: {
                /** @description The id of the memory */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of links */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EdgePage"];
                };
            };
        };
    };
    getMemoryGraph: {
        parameters: {
            query?: {
                /** @description Maximum number of links between the memory and another one. */
                depth?: number;
                /** @description Only along these relations. Default: all. */
                relation?: components["schemas"]["Relation"][];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path: {
                /** @description The id of the memory */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The memories and links */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Neighbourhood"];
                };
            };
        };
    };
    listMemoryHistory: {
        parameters: {
            query?: {
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path: {
                /** @description The id of the memory */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of ledger entries */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LedgerEntryPage"];
                };
            };
        };
    };
    getMemoryProvenance: {
        parameters: {
            query?: {
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path: {
                /** @description The id of the memory */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The provenance of the memory */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Provenance"];
                };
            };
        };
    };
    resolveMemory: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The id of one of the two memories */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResolutionRequest"];
            };
        };
        responses: {
            /** @description The contradiction is resolved */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryWrite"];
                };
            };
        };
    };
    restoreMemory: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The id of the memory */
                id: components["parameters"]["id"];
            };
            cookie?: never;
        };
        /** @description Optional */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ScopeRequest"];
            };
        };
        responses: {
            /** @description The memory is restored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryWrite"];
                };
            };
        };
    };
    supersedeMemory: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The id of the memory that is replaced */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "content": "Ann moved to Vienna.",
                 *       "identifiers": {
                 *         "userId": "ann"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["NewMemoryRequest"];
            };
        };
        responses: {
            /** @description The memory existed already */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryWrite"];
                };
            };
            /** @description The new memory */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryWrite"];
                };
            };
        };
    };
    countOperations: {
        parameters: {
            query?: {
                /** @description Count from this time on: an instant, or a day in `retrieval.time_zone`. Default: the last seven days. */
                after?: string;
                /** @description Count what happened before this time: an instant, or a day. Default: now. */
                before?: string;
                /** @description The length of a bucket; `whole` counts everything in one. Default: `day`. */
                bucket?: "hour" | "day" | "week" | "whole";
                /** @description Only changes by any of these parts of Loci, such as `hotpath` or `worker`. */
                node?: string[];
                /** @description Any of these events. */
                event?: components["parameters"]["event"];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operations"];
                };
            };
        };
    };
    listPools: {
        parameters: {
            query?: {
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of pools */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PoolPage"];
                };
            };
        };
    };
    createPool: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "agentIds": [
                 *         "researcher",
                 *         "coder"
                 *       ],
                 *       "name": "Technical documents",
                 *       "poolId": "technical-docs"
                 *     }
                 */
                "application/json": components["schemas"]["NewPool"];
            };
        };
        responses: {
            /** @description The pool is new */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PoolDetailsWrite"];
                };
            };
        };
    };
    getPool: {
        parameters: {
            query?: {
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path: {
                /** @description The pool */
                poolId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The pool and its members */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PoolDetails"];
                };
            };
        };
    };
    deletePool: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The pool */
                poolId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The pool is removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    contributeToPool: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The pool */
                poolId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "content": "WebGPU requires WGSL shaders, not GLSL",
                 *       "identifiers": {
                 *         "agentId": "researcher",
                 *         "userId": "ann"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ContributionRequest"];
            };
        };
        responses: {
            /** @description The pool had the memory */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryWrite"];
                };
            };
            /** @description The memory is new in the pool */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryWrite"];
                };
            };
        };
    };
    listPoolMembers: {
        parameters: {
            query?: {
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path: {
                /** @description The pool */
                poolId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of members */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PoolMemberPage"];
                };
            };
        };
    };
    addPoolMembers: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The pool */
                poolId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "agentIds": [
                 *         "reviewer"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["AddMembers"];
            };
        };
        responses: {
            /** @description The agents are members */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PoolDetailsWrite"];
                };
            };
        };
    };
    removePoolMember: {
        parameters: {
            query?: {
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The pool */
                poolId: string;
                /** @description The agent */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agent is not a member any more */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    syncPool: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The pool */
                poolId: string;
            };
            cookie?: never;
        };
        /** @description Optional */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ScopeRequest"];
            };
        };
        responses: {
            /** @description What was copied */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PoolSync"];
                };
            };
        };
    };
    recall: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "identifiers": {
                 *         "userId": "ann"
                 *       },
                 *       "limit": 5,
                 *       "pack": {
                 *         "budgetTokens": 500
                 *       },
                 *       "query": "What does Ann drink?"
                 *     }
                 */
                "application/json": components["schemas"]["RecallRequest"];
            };
        };
        responses: {
            /** @description What was found */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecallAnswer"];
                };
            };
        };
    };
    recallBatch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "identifiers": {
                 *         "userId": "ann"
                 *       },
                 *       "queries": [
                 *         {
                 *           "limit": 3,
                 *           "query": "What does Ann drink?"
                 *         },
                 *         {
                 *           "limit": 1,
                 *           "query": "Where does Ann live?"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["RecallBatchRequest"];
            };
        };
        responses: {
            /** @description An outcome for each question */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecallBatchAnswer"];
                };
            };
        };
    };
    listSessions: {
        parameters: {
            query?: {
                /** @description Only sessions that have ended, or only open ones. Default: both. */
                ended?: boolean;
                /** @description Only sessions with turns that were not learned from yet. */
                pending?: boolean;
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of sessions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionPage"];
                };
            };
        };
    };
    getSession: {
        parameters: {
            query?: {
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path: {
                /** @description The session */
                sessionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The session */
                sessionId: string;
            };
            cookie?: never;
        };
        /** @description Optional */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ScopeRequest"];
            };
        };
        responses: {
            /** @description The session has ended */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionWrite"];
                };
            };
        };
    };
    listEntries: {
        parameters: {
            query?: {
                /** @description Only entries that match this query, best first; the latest 1,000 entries are compared. Default: all, newest first. */
                query?: string;
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path: {
                /** @description The session */
                sessionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of entries */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundEntryPage"];
                };
            };
        };
    };
    putEntry: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The session */
                sessionId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "content": "Ann asked to be reminded of the exam on Friday.",
                 *       "identifiers": {
                 *         "userId": "ann"
                 *       },
                 *       "importance": 0.8
                 *     }
                 */
                "application/json": components["schemas"]["NewEntryRequest"];
            };
        };
        responses: {
            /** @description The entry replaced one with the same id */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntryWrite"];
                };
            };
            /** @description The entry is new */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntryWrite"];
                };
            };
        };
    };
    getEntry: {
        parameters: {
            query?: {
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path: {
                /** @description The session */
                sessionId: string;
                /** @description The id of the entry */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entry */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Entry"];
                };
            };
        };
    };
    learnSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The session */
                sessionId: string;
            };
            cookie?: never;
        };
        /** @description Optional */
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "again": false,
                 *       "identifiers": {
                 *         "userId": "ann"
                 *       },
                 *       "wait": true
                 *     }
                 */
                "application/json": components["schemas"]["LearnSessionRequest"];
            };
        };
        responses: {
            /** @description What was learned, with `wait` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsolidationReport"];
                };
            };
            /** @description The learning is queued */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    ingestTurns: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The session. A new one is started */
                sessionId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "identifiers": {
                 *         "userId": "ann"
                 *       },
                 *       "turns": [
                 *         {
                 *           "content": "I moved to Graz last week.",
                 *           "role": "user",
                 *           "threadId": "t1"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["TurnsRequest"];
            };
        };
        responses: {
            /** @description The turns are stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IngestedTurns"];
                };
            };
        };
    };
    getStats: {
        parameters: {
            query?: {
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Statistics"];
                };
            };
        };
    };
    summarize: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "identifiers": {
                 *         "userId": "ann"
                 *       },
                 *       "strategy": "extractive",
                 *       "targetTokens": 200
                 *     }
                 */
                "application/json": components["schemas"]["SummarizeRequest"];
            };
        };
        responses: {
            /** @description The summary */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Summary"];
                };
            };
        };
    };
    listThreads: {
        parameters: {
            query?: {
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of threads */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckpointThreadPage"];
                };
            };
        };
    };
    getNewestCheckpoint: {
        parameters: {
            query?: {
                /** @description The part of the program. Default: the whole program. */
                namespace?: components["parameters"]["namespace"];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path: {
                /** @description The thread */
                threadId: components["parameters"]["threadId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The checkpoint */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedCheckpoint"];
                };
            };
        };
    };
    deleteThread: {
        parameters: {
            query?: {
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The thread */
                threadId: components["parameters"]["threadId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The thread is removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listCheckpoints: {
        parameters: {
            query?: {
                /** @description The part of the program. Default: all parts. */
                namespace?: string;
                /**
                 * @description Only checkpoints that were stored before the one with this id. It is a condition, not a place in the list: pages
                 *     are read with `cursor`.
                 */
                beforeId?: string;
                /** @description Only checkpoints whose metadata have these values: a JSON object. */
                metadata?: string;
                /** @description Whether data and pending writes are included. */
                includeData?: boolean;
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path: {
                /** @description The thread */
                threadId: components["parameters"]["threadId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of checkpoints */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedCheckpointPage"];
                };
            };
        };
    };
    putCheckpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The thread. A new one is started */
                threadId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "data": {
                 *         "messages": [
                 *           "hello"
                 *         ]
                 *       },
                 *       "expectParent": "step-1",
                 *       "id": "step-2",
                 *       "identifiers": {
                 *         "userId": "ann"
                 *       },
                 *       "metadata": {
                 *         "step": 2
                 *       },
                 *       "parentId": "step-1"
                 *     }
                 */
                "application/json": components["schemas"]["NewCheckpointRequest"];
            };
        };
        responses: {
            /** @description The checkpoint was there, or replaced one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedCheckpointWrite"];
                };
            };
            /** @description The checkpoint is new */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedCheckpointWrite"];
                };
            };
        };
    };
    getCheckpoint: {
        parameters: {
            query?: {
                /** @description The part of the program. Default: the whole program. */
                namespace?: components["parameters"]["namespace"];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path: {
                /** @description The thread */
                threadId: components["parameters"]["threadId"];
                /** @description The id of the checkpoint */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The checkpoint */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedCheckpoint"];
                };
            };
        };
    };
    deleteCheckpoint: {
        parameters: {
            query?: {
                /** @description The part of the program. Default: the whole program. */
                namespace?: components["parameters"]["namespace"];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The thread */
                threadId: components["parameters"]["threadId"];
                /** @description The id of the checkpoint */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The checkpoint is removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    putWrites: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The thread */
                threadId: components["parameters"]["threadId"];
                /** @description The id of the checkpoint */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "identifiers": {
                 *         "userId": "ann"
                 *       },
                 *       "writes": [
                 *         {
                 *           "channel": "messages",
                 *           "data": "hello",
                 *           "position": 0,
                 *           "taskId": "plan"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["PendingWritesRequest"];
            };
        };
        responses: {
            /** @description The writes are stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedCheckpointWrite"];
                };
            };
        };
    };
    listThreadHistory: {
        parameters: {
            query?: {
                /** @description The part of the program. Default: the whole program. */
                namespace?: components["parameters"]["namespace"];
                /** @description The id of the checkpoint with which the history starts. Default: the newest. */
                checkpointId?: string;
                /** @description Whether data and pending writes are included. */
                includeData?: boolean;
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path: {
                /** @description The thread */
                threadId: components["parameters"]["threadId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of checkpoints */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedCheckpointPage"];
                };
            };
        };
    };
    pruneThread: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /** @description The thread */
                threadId: components["parameters"]["threadId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "identifiers": {
                 *         "userId": "ann"
                 *       },
                 *       "keep": 10
                 *     }
                 */
                "application/json": components["schemas"]["PruneThreadRequest"];
            };
        };
        responses: {
            /** @description The thread is pruned */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PrunedThread"];
                };
            };
        };
    };
    ingestThreadTurns: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "identifiers": {
                 *         "userId": "ann"
                 *       },
                 *       "turns": [
                 *         {
                 *           "content": "I moved to Graz last week.",
                 *           "role": "user",
                 *           "threadId": "t1"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["TurnsRequest"];
            };
        };
        responses: {
            /** @description The turns are stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IngestedTurns"];
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description Maximum number of entries of the page. */
                limit?: components["parameters"]["limit"];
                /** @description Where the page starts: `nextCursor` of the page before. Default: the first page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of webhooks */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookPage"];
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "events": [
                 *         "ADD",
                 *         "UPDATE"
                 *       ],
                 *       "identifiers": {
                 *         "userId": "ann"
                 *       },
                 *       "url": "https://example.com/hook"
                 *     }
                 */
                "application/json": components["schemas"]["NewWebhookRequest"];
            };
        };
        responses: {
            /** @description The webhook, with its secret */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookWrite"];
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the webhook */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the webhook */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook is removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    resumeWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the webhook */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookWrite"];
                };
            };
        };
    };
    whoami: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The credential */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WhoAmI"];
                };
            };
        };
    };
    getWorking: {
        parameters: {
            query?: {
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Working memory */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkingView"];
                };
            };
        };
    };
    clearWorking: {
        parameters: {
            query?: {
                /** @description The agent, by its URL-safe slug. */
                agentId?: components["parameters"]["agentId"];
                /** @description The user. */
                userId?: components["parameters"]["userId"];
                /** @description The session. */
                sessionId?: components["parameters"]["sessionId"];
                /** @description The project. */
                projectId?: components["parameters"]["projectId"];
                /** @description The team. */
                teamId?: components["parameters"]["teamId"];
                /** @description The organization. */
                orgId?: components["parameters"]["orgId"];
                /** @description The company. */
                companyId?: components["parameters"]["companyId"];
                /** @description The pool, by its URL-safe slug. */
                poolId?: components["parameters"]["poolId"];
                /** @description Whether the request is about everyone's data instead of one scope. Only an admin may ask for that. */
                everyone?: components["parameters"]["everyone"];
            };
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Working memory is empty */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    flushWorking: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description Optional */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ScopeRequest"];
            };
        };
        responses: {
            /** @description The messages are durable */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FlushedWorking"];
                };
            };
        };
    };
    appendMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "content": "Which chapter were we at?",
                 *       "identifiers": {
                 *         "agentId": "tutor",
                 *         "userId": "ann"
                 *       },
                 *       "role": "user"
                 *     }
                 */
                "application/json": components["schemas"]["NewMessageRequest"];
            };
        };
        responses: {
            /** @description The message is appended */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppendedMessageWrite"];
                };
            };
        };
    };
    setScratchpad: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "identifiers": {
                 *         "agentId": "tutor",
                 *         "userId": "ann"
                 *       },
                 *       "text": "first the proof, then the exercise"
                 *     }
                 */
                "application/json": components["schemas"]["ScratchpadRequest"];
            };
        };
        responses: {
            /** @description The scratchpad is set */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScratchpadWrite"];
                };
            };
        };
    };
    searchWorking: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "identifiers": {
                 *         "agentId": "tutor",
                 *         "userId": "ann"
                 *       },
                 *       "limit": 3,
                 *       "query": "chapter"
                 *     }
                 */
                "application/json": components["schemas"]["WorkingSearchRequest"];
            };
        };
        responses: {
            /** @description A page of results */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkingHitPage"];
                };
            };
        };
    };
    putToolResult: {
        parameters: {
            query?: never;
            header?: {
                /** @description `return=minimal` leaves `data` out of the answer. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Identifies the request. If it is repeated with the same key within a day, it is not executed again but answered with the stored answer and `Idempotent-Replayed: true` */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "callId": "call_7",
                 *       "content": {
                 *         "celsius": 21
                 *       },
                 *       "identifiers": {
                 *         "agentId": "tutor",
                 *         "userId": "ann"
                 *       },
                 *       "tool": "weather"
                 *     }
                 */
                "application/json": components["schemas"]["NewToolResultRequest"];
            };
        };
        responses: {
            /** @description The result replaced one of the same call */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolResultWrite"];
                };
            };
            /** @description The result is new */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolResultWrite"];
                };
            };
        };
    };
}
