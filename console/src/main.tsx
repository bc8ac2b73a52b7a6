import { render } from "preact";

import { App } from "./app";
import "./style/base.css";
import "./style/parts.css";
import "./style/pages.css";

render(<App />, document.getElementById("app")!);
