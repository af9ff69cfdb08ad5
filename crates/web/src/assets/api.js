// Requests to the server that sent this page.

/** What the server said went wrong. */
export class Failure extends Error {
  constructor(message, hint, status, problems = []) {
    super(message);
    this.hint = hint;
    this.problems = problems;
    this.status = status;
  }
}

async function answer(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure("dshap does not answer.", "Look at the terminal where it runs, and start it again if it ended.", 0);
  }
  if (response.status === 204) return null;
  const body = await response.json().catch(() => null);
  if (!response.ok) throw new Failure(body?.error ?? `the server answered ${response.status}`, body?.hint, response.status, body?.problems);
  return body;
}

export function get(path, signal) {
  return answer(path, { signal });
}

export function post(path, body, signal) {
  const headers = { "content-type": "application/json" };
  return answer(path, { method: "POST", headers, body: JSON.stringify(body ?? {}), signal });
}

export function remove(path) {
  return answer(path, { method: "DELETE" });
}

/** The path of a table, whose name has folders. */
export function tablePath(name) {
  return `/api/tables/${name.split("/").map(encodeURIComponent).join("/")}`;
}

/** Sends a file; `progress` gets the share that was sent. */
export function upload(file, progress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/api/tables?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("content-type", "application/octet-stream");
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) progress(event.loaded / event.total);
    });
    request.addEventListener("load", () => {
      const body = request.response;
      if (request.status === 201) resolve(body);
      else reject(new Failure(body?.error ?? `the server answered ${request.status}`, body?.hint, request.status));
    });
    request.addEventListener("error", () => reject(new Failure("The upload broke off.", "The file may be larger than the server allows.", 0)));
    request.send(file);
  });
}

let catalogue = null;

/** Methods and options, asked for once. */
export async function getCatalogue() {
  catalogue ??= await get("/api/catalogue");
  return catalogue;
}
