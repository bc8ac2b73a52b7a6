//! Is what people say in Russian told rightly, and chit-chat left alone?
